{#- The SQL of a published table's model: all its rows, behind what it is of as JSON in a comment. Arguments: plan (entity, format, schema), current (relation). -#}
{%- macro _target_query(plan, current) -%}
{%- set columns = spark_cdc._target_columns(spark_cdc._entity(plan.entity)) -%}
/* spark_cdc target: {{ spark_cdc._comment_json(plan) }} */
select
    {{ columns | map(attribute='sql') | join(',\n    ') }}
from {{ current }}
{%- endmacro -%}


{#- The same, read from such SQL: all that is known of a published table before its own metadata are read. Returns a dictionary: entity, capture,
    relation, format, is_view (whether it is a view over tables of ours), columns, mark (by which the table is known as ours), changes (relation). -#}
{%- macro _target_of_query(sql, relation) -%}
    {%- set plan = fromjson(modules.re.search('/[*] spark_cdc target: ([{].*[}]) [*]/', sql).group(1)) -%}
    {%- set entity = spark_cdc._entity(plan.entity) -%}
    {{ return({
        'entity': entity,
        'capture': spark_cdc._capture(entity, plan.schema),
        'relation': relation,
        'format': plan.format,
        'is_view': plan.format in ['parquet', 'orc'],
        'columns': spark_cdc._target_columns(entity),
        'mark': plan.schema ~ '.' ~ entity.name ~ ' as ' ~ plan.format,
        'changes': spark_cdc._relation_in(plan.schema, entity.name ~ '_changes'),
    }) }}
{%- endmacro -%}


{#- The columns of a published table: those that are stored, and when the row's version began. -#}
{%- macro _target_columns(entity) -%}
    {{ return(entity.stored + [{'name': 'eff_start_date', 'sql': 'eff_start_date', 'data_type': entity.eff_type, 'role': none}]) }}
{%- endmacro -%}
