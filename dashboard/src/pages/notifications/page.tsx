import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useList, useRead } from '../../api/read.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { useHotkeys } from '../../parts/hotkeys.ts';
import { formatListCount } from '../../parts/money.ts';
import { Page as Frame } from '../../parts/page.tsx';
import { useSearchState } from '../../parts/search.ts';
import { Empty, Load } from '../../parts/states.tsx';
import { ChannelForm } from './channel-form.tsx';
import { CHANNEL_COLUMNS, EVENT_COLUMNS } from './columns.tsx';
import { ChannelPanel, EventPanel } from './panels.tsx';
import { parseNotificationsSearch } from './search.ts';

const TABS = [
  { value: 'channels', label: 'Channels' },
  { value: 'sent', label: 'What was sent' },
] as const;
const EVENTS = 100;
const EVERY_MS = 10_000;

/** Where operators are notified, and of what they were. */
export function Page(): ReactElement {
  const [{ tab, peek, isNew }, change] = useSearchState(parseNotificationsSearch);
  const [secret, setSecret] = useState<string>();
  const channels = useList(['notification-channels'], (window, signal) =>
    client.GET('/notifications/channels', { signal, params: { query: window } }),
  );
  useHotkeys({ n: () => change({ new: 'true' }) });
  const create = (
    <Button look="primary" icon="plus" hotkey="n" onClick={() => change({ new: 'true' })}>
      New channel
    </Button>
  );
  const peeked = channels.data?.items.find(({ id }) => id === peek);
  return (
    <Frame
      title="Notifications"
      isFilled
      lead={channels.data === undefined ? undefined : formatListCount(channels.data)}
      actions={create}
      bar={
        <Segments label="Show" value={tab} options={TABS} onChange={(next) => change({ tab: next, peek: undefined })} />
      }
    >
      {tab === 'sent' ? (
        <Sent peek={peek} onPeek={(id) => change({ peek: id }, false)} names={namesOf(channels.data?.items ?? [])} />
      ) : (
        <Load of={channels}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="Operators are notified of nothing" action={create}>
                <p>
                  A channel gets a message when a key has spent its limit, when credit runs low, or when a destination
                  was switched off: a webhook, a chat or mail.
                </p>
              </Empty>
            ) : (
              <div className="flex min-h-0 flex-1">
                <Grid
                  label="Channels"
                  columns={CHANNEL_COLUMNS}
                  rows={items}
                  keyOf={({ id }) => id}
                  chosen={peek}
                  onPeek={({ id }) => change({ peek: id }, false)}
                />
                {peeked !== undefined && (
                  <ChannelPanel
                    key={peeked.id}
                    channel={peeked}
                    onSecret={setSecret}
                    onClose={() => change({ peek: undefined }, false)}
                  />
                )}
              </div>
            )
          }
        </Load>
      )}
      <ChannelForm
        key={String(isNew)}
        isOpen={isNew}
        onSecret={setSecret}
        onClose={() => change({ new: undefined }, false)}
      />
      <Dialog title="The secret of the webhook" isOpen={secret !== undefined} onClose={() => setSecret(undefined)}>
        <p className="mb-3">
          It is shown this once. Libraries of Standard Webhooks check the signature of each message by it.
        </p>
        <CodeBlock label="Secret" text={secret ?? ''} />
      </Dialog>
    </Frame>
  );
}

function Sent({
  peek,
  onPeek,
  names,
}: {
  readonly peek: string;
  readonly onPeek: (id: string | undefined) => void;
  readonly names: ReadonlyMap<string, string>;
}): ReactElement {
  const events = useRead(
    ['notification-events'],
    (signal) => client.GET('/notifications/events', { signal, params: { query: { limit: EVENTS } } }),
    { everyMs: EVERY_MS },
  );
  return (
    <Load of={events}>
      {({ data }) => {
        const peeked = data.find(({ id }) => id === peek);
        return data.length === 0 ? (
          <Empty title="Nothing has happened">
            <p>What channels were sent in the last 30 days is here, with every delivery.</p>
          </Empty>
        ) : (
          <div className="flex min-h-0 flex-1">
            <Grid
              label="Events"
              columns={EVENT_COLUMNS}
              rows={data}
              keyOf={({ id }) => id}
              chosen={peek}
              onPeek={({ id }) => onPeek(id)}
            />
            {peeked !== undefined && (
              <EventPanel key={peeked.id} event={peeked} names={names} onClose={() => onPeek(undefined)} />
            )}
          </div>
        );
      }}
    </Load>
  );
}

function namesOf(channels: readonly { readonly id: string; readonly name: string }[]): ReadonlyMap<string, string> {
  return new Map(channels.map(({ id, name }) => [id, name]));
}
