{#- What changed from one version to another, net: the last row of each key, and whether it is gone. Of what a published table has of it already, since a
    run was killed or another was quicker, nothing follows. Argument: feed (query of changes). Returns a query with the table's columns and is__gone. -#}
{%- macro _target_changes_sql(target, feed) -%}
select
    {{ target.columns | map(attribute='sql') | join(',\n    ') }},
    _change_type = 'delete' as is__gone
from (
    select
        *,
        row_number() over (partition by key_hash order by _commit_version desc, load_id desc, _change_type desc) as recency
    from (
        {{ feed | indent(8) }}
    ) as changes
    where _change_type <> 'update_preimage'
) as ranked
where recency = 1
{%- endmacro -%}
