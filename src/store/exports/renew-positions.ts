/**
 * Cursors of another cluster of PostgreSQL, whose transactions have numbers of their own, go by the numbers of rows alone:
 * before the first record that a destination lacks. What was sent out of this order is sent once more, and whichever
 * process sends meanwhile loses its turn.
 */
export const RENEW_CURSORS = `
  update destination_cursors set xid = 0, holder = null, lease_until_ms = 0, seq = least(seq, (
    select min(lacking.seq) - 1
    from export_rows lacking join destinations on destinations.workspace_id = lacking.workspace_id
    where destinations.id = destination_id
      and (lacking.xid, lacking.seq) > (destination_cursors.xid, destination_cursors.seq)
  ))`;

/** So that a statement ends within the time that each has. */
export const ROWS_RENEWED_AT_ONCE = 20_000;

/** Puts rows of another cluster before all of this one: it is to be run until fewer were left than it takes at once. */
export const RENEW_ROWS = `
  update export_rows set xid = 0
  where seq in (select seq from export_rows where xid > 0 order by xid, seq limit ${ROWS_RENEWED_AT_ONCE})`;
