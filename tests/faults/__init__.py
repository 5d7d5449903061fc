"""What happens to loads when the Spark server, dbt or the line between them fails.

proxy.py  between dbt and the server: knows each statement, holds it, cuts the line
runner.py one process that has dbt and the project in memory, and forks a child for each run
cells.py  the entities that are loaded, and their data
lab.py    server, runs, what readers see
points.py kills at every statement
"""
