"""Files where the landing lies, by Hadoop's file systems, as Spark reads and writes them."""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError

Jvm = Any  # an object of the JVM by py4j, whose class is known at run time only
# Of a store that has it: write only where nothing is, decided by the store when all has come.
CONDITIONAL = "fs.option.create.conditional.overwrite"


class Files:
    """A file system of the JVM: local folders, HDFS, S3 and what else Hadoop knows by its URI."""

    def __init__(self, jvm: Jvm, conf: Jvm, place: str) -> None:
        self._jvm = jvm
        self._system = jvm.org.apache.hadoop.fs.Path(place).getFileSystem(conf)
        if self._system.getScheme() == "file":
            # without the files of checksums beside: after a kill they do not fit
            self._system = self._system.getRawFileSystem()

    def _path(self, path: str) -> Jvm:
        return self._jvm.org.apache.hadoop.fs.Path(path)

    def exists(self, path: str) -> bool:
        """Return whether there is a file or a folder."""
        return bool(self._system.exists(self._path(path)))

    def names(self, folder: str) -> list[str]:
        """Return the names of what lies in a folder, in order; none if it is not there."""
        if not self.exists(folder):
            return []
        return sorted(
            one.getPath().getName() for one in self._system.listStatus(self._path(folder))
        )

    def found(self, pattern: str) -> list[str]:
        """Return the paths that a pattern stands for."""
        return [str(one.getPath()) for one in self._system.globStatus(self._path(pattern)) or []]

    def read(self, path: str) -> str:
        """Return what a file holds."""
        stream = self._system.open(self._path(path))
        try:
            return bytes(stream.readAllBytes()).decode("utf-8")
        finally:
            stream.close()

    def write(self, path: str, text: str, anew: bool = False) -> bool:
        """Write a file; return False if it is there already and is not to be written anew."""
        if not anew and self.exists(path):
            return False
        place = self._path(path)
        is_conditional = not anew and self._system.hasPathCapability(place, CONDITIONAL)
        if is_conditional:
            stream = self._system.createFile(place).must(CONDITIONAL, "true").build()
        else:
            stream = self._system.create(place, anew)
        try:
            stream.write(bytearray(text.encode("utf-8")))
            stream.close()
        except Py4JJavaError:
            if is_conditional and self.exists(path):
                return False
            raise
        return True

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it, if it is there."""
        self._system.delete(self._path(path), True)
