{#- Each incoming row beside the hashes of its key's prior row. Where the prior hashes are few enough to be broadcast,
    the payload that came in stays where it was read. -#}
{%- macro _compared_sql(entity, incoming, broadcast_prior=false, asks_ignored=false) -%}
select{{ ' /*+ broadcast(prior) */' if broadcast_prior }}
    incoming.*,
    case
        when incoming.note is not null then 'R'
        {%- if entity.deleted_when %}
        when incoming.is_deleted and prior.key_hash is null then 'T'
        when incoming.is_deleted then 'D'
        {%- endif %}
        when prior.key_hash is null then 'I'
        when incoming.nonkey_hash <> prior.nonkey_hash then 'U'
        else 'N'
    end as operation,
    {%- if asks_ignored %}
    not incoming.ignored_hash <=> prior.ignored_hash as ignored_differs,
    {%- endif %}
    prior.eff_start_date
from {{ incoming }} as incoming
left join prior
    on incoming.key_hash = prior.key_hash
{%- endmacro -%}
