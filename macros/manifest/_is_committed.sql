{#- Whether a manifest has been committed, where others have committed meanwhile: it is what readers see, or what they see has been built on it.
    Arguments: manifest (with its sequence and commit), published (what readers see). -#}
{%- macro _is_committed(manifest, published) -%}
    {%- if published.sequence == manifest.sequence -%}
        {{ return(published.commit == manifest.commit) }}
    {%- elif 'move' in manifest and manifest.move.load_id.endswith(manifest.commit) -%}
        {{ return(published.get('move') == manifest.move) }}
    {%- endif -%}
    {#- loads that this run has written; a replay publishes those of other runs -#}
    {%- set own = [] -%}
    {%- for load_id in manifest.loads if load_id.endswith(manifest.commit) or load_id == manifest.loads[-1] -%}{%- do own.append(load_id) -%}{%- endfor -%}
    {{ return(own != [] and not own | reject('in', published.loads) | list) }}
{%- endmacro -%}
