import type { ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { usePages } from '../../api/read.ts';
import { FilterBox } from '../../parts/filter-box.tsx';
import { Segments } from '../../parts/field.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { formatCount } from '../../parts/money.ts';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { Facts, Page as Frame, Section } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { PeekedList } from '../../parts/side-panel.tsx';
import { Empty, Load } from '../../parts/states.tsx';
import { useNow } from '../../parts/text.tsx';
import { boundsOf, formatMoment, RANGE_LABELS, RANGES } from '../../parts/time.ts';
import { auditColumns, type AuditEvent } from './columns.tsx';
import { parseAuditSearch } from './search.ts';

const RANGE_OPTIONS = [
  { value: '', label: 'all' },
  ...RANGES.map((range) => ({ value: range, label: RANGE_LABELS[range] })),
] as const;

/** Each change: the key, the action and its subject. */
export function Page(): ReactElement {
  const [search, change] = useSearchState(parseAuditSearch);
  const { action, subject, range } = search;
  const nowMs = useNow();
  const filters = {
    ...(action !== '' && { action }),
    ...(subject !== '' && { subject }),
    ...(range !== '' && { from: boundsOf(range, nowMs).start }),
  };
  const audit = usePages(['audit', filters], (window, signal) =>
    client.GET('/audit', { signal, params: { query: { ...filters, ...window } } }),
  );
  const setAction = (value: string): void => change({ action: value }, false);
  const setSubject = (value: string): void => change({ subject: value }, false);
  return (
    <Frame
      title="Audit"
      isFilled
      lead={audit.data === undefined ? undefined : `${formatCount(audit.data.total)} events`}
      bar={
        <>
          <FilterBox value={action} onChange={setAction} placeholder="Action: updateKey" label="Filter by action" />
          <FilterBox
            value={subject}
            onChange={setSubject}
            placeholder="Subject: /keys/7e0f…"
            label="Filter by subject"
          />
          <Segments
            label="Time range"
            value={range}
            options={RANGE_OPTIONS}
            onChange={(next) => change({ range: next })}
          />
        </>
      }
    >
      <Load of={audit}>
        {({ items, total }) =>
          items.length > 0 ? (
            <Events
              events={items}
              total={total}
              peek={search.peek}
              onPeek={(peek) => change({ peek }, false)}
              onMore={audit.hasNextPage ? () => void audit.fetchNextPage() : undefined}
            />
          ) : action !== '' || subject !== '' || range !== '' ? (
            <NothingMatches
              what="event"
              filters={[
                {
                  name: 'Drop the filters',
                  onDrop: () => change({ action: undefined, subject: undefined, range: undefined }),
                },
              ]}
            />
          ) : (
            <Empty title="Nothing was changed yet">
              <p>Every change of a key, a budget, a guardrail or a setting is here, with its author.</p>
            </Empty>
          )
        }
      </Load>
    </Frame>
  );
}

function Events({
  events,
  total,
  peek,
  onPeek,
  onMore,
}: {
  readonly events: readonly AuditEvent[];
  readonly total: number;
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
  readonly onMore: (() => void) | undefined;
}): ReactElement {
  return (
    <PeekedList
      label="Audit events"
      columns={auditColumns()}
      rows={events}
      total={total}
      peek={peek}
      onPeek={onPeek}
      onMore={onMore}
      nameOf={({ action }) => action}
    >
      {(event) => <EventDetails event={event} />}
    </PeekedList>
  );
}

function EventDetails({ event }: { readonly event: AuditEvent }): ReactElement {
  return (
    <>
      <Section title="Event">
        <Facts
          of={[
            ['Time', formatMoment(new Date(event.at))],
            ['Actor', event.actor.label],
            [
              'Subject',
              <span key="subject" className="font-mono text-xs">
                {event.subject}
              </span>,
            ],
            [
              'Id',
              <span key="id" className="font-mono text-xs">
                {event.id}
              </span>,
            ],
          ]}
        />
      </Section>
      <Section title="Changes">
        <JsonView value={event.changes} label="Changes" />
      </Section>
    </>
  );
}
