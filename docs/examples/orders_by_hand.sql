-- One row per key, cast; what can't be cast becomes null.
create or replace temporary view incoming as
select
    try_cast(order_no as bigint) as order_no,
    try_cast(line_no as int) as line_no,
    article,
    try_cast(quantity as int) as quantity,
    try_cast(price as decimal(10, 2)) as price,
    op
from (
    select
        *,
        row_number() over (
            partition by order_no, line_no order by exported_at desc
        ) as recency
    from landed_orders
) as ranked
where recency = 1;

-- What changed, column by column, null-safe.
create or replace temporary view changed as
select incoming.*, versions.order_no is not null as existed
from incoming
left join orders_versions as versions
    on incoming.order_no = versions.order_no
    and incoming.line_no = versions.line_no
    and versions.is_current
where
    (incoming.op = 'D' and versions.order_no is not null)
    or (
        incoming.op <> 'D'
        and not (
            versions.order_no is not null
            and incoming.article <=> versions.article
            and incoming.quantity <=> versions.quantity
            and incoming.price <=> versions.price
        )
    );

-- Each changed row twice: once to close, once to insert.
merge into orders_versions as target
using (
    select order_no as match_no, line_no as match_line, *
    from changed
    union all
    select null, null, *
    from changed
    where op <> 'D' and existed
) as source
    on target.order_no = source.match_no
    and target.line_no = source.match_line
    and target.is_current
when matched then
    update set is_current = false, eff_end_date = date'2024-03-04'
when not matched and op <> 'D' then
    insert (order_no, line_no, article, quantity, price,
        eff_start_date, eff_end_date, is_current)
    values (order_no, line_no, article, quantity, price,
        date'2024-03-04', null, true);
