import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useCall, useChange } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { JsonView } from '../../parts/json-view.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { SidePanel } from '../../parts/side-panel.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import { ChannelForm } from './channel-form.tsx';
import {
  DELIVERY_TONES,
  SEVERITY_TONES,
  STATE_TONES,
  stateOf,
  targetOf,
  type Channel,
  type Event,
} from './columns.tsx';

/** One channel: whether it works, and what it gets. */
export function ChannelPanel({
  channel,
  onSecret,
  onClose,
}: {
  readonly channel: Channel;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}): ReactElement {
  const [open, setOpen] = useState<'change' | 'delete'>();
  const { id, name, kind, enabled } = channel;
  const params = { path: { id } };
  const change = useChange(async (body: { readonly enabled?: boolean; readonly rotate_secret?: boolean }) => {
    const { data } = await client.PATCH('/notifications/channels/{id}', { params, body });
    if (data?.secret !== undefined) onSecret(data.secret);
    return { data };
  });
  const remove = useChange(() => client.DELETE('/notifications/channels/{id}', { params }), onClose);
  return (
    <SidePanel title={<Name>{name}</Name>} onClose={onClose}>
      <Test id={id} />
      <Section
        title="Settings"
        actions={
          <>
            <Button icon="settings" onClick={() => setOpen('change')}>
              Change
            </Button>
            <Button disabled={change.isPending} onClick={() => change.mutate({ enabled: !enabled })}>
              {enabled ? 'Switch off' : 'Switch on'}
            </Button>
            <Button icon="trash" aria-label="Delete the channel" onClick={() => setOpen('delete')} />
          </>
        }
      >
        <Facts of={factsOf(channel)} />
        {kind === 'webhook' && (
          <div className="mt-3">
            <Button disabled={change.isPending} onClick={() => change.mutate({ rotate_secret: true })}>
              Make another secret
            </Button>
          </div>
        )}
        {change.isError && (
          <p role="alert" className="mt-2 text-bad">
            {change.error.message}
          </p>
        )}
      </Section>
      <ChannelForm
        key={String(open === 'change')}
        channel={channel}
        isOpen={open === 'change'}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        what="channel"
        name={name}
        isOpen={open === 'delete'}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        What waits for it is not sent any more.
      </DeleteDialog>
    </SidePanel>
  );
}

function Test({ id }: { readonly id: string }): ReactElement {
  const test = useCall(() => client.POST('/notifications/channels/{id}/test', { params: { path: { id } } }));
  const outcome = test.data?.data;
  return (
    <Section title="Does it arrive">
      <div className="flex items-center gap-3">
        <Button disabled={test.isPending} onClick={() => test.mutate(undefined)}>
          {test.isPending ? 'Sending …' : 'Send a test'}
        </Button>
        <span aria-live="polite">
          {outcome?.ok === true && <Badge tone="good">it was taken</Badge>}
          {outcome?.ok === false && <span className="text-bad">{outcome.error}</span>}
          {test.isError && <span className="text-bad">{test.error.message}</span>}
        </span>
      </div>
    </Section>
  );
}

function factsOf(channel: Channel): Parameters<typeof Facts>[0]['of'] {
  const { kind, events, min_severity, quiet_hours: quiet, max_per_hour, last_sent_at, last_error, state } = channel;
  return [
    [
      'State',
      <Badge key="state" tone={channel.enabled ? STATE_TONES[state] : 'dim'}>
        {stateOf(channel)}
      </Badge>,
    ],
    ...(last_error === null ? [] : [['Last failure', <Name key="failure">{last_error}</Name>] as const]),
    ['Last sent', <Ago key="sent" at={last_sent_at} />],
    ['Kind', kind],
    ['Where', <Name key="where">{targetOf(channel)}</Name>],
    ['Events', events.join(', ')],
    ['From', min_severity],
    ['Workspaces', channel.workspace_ids === null ? 'all' : String(channel.workspace_ids.length)],
    ['Quiet hours', quiet === null ? 'none' : `${quiet.from} to ${quiet.to}, ${quiet.tz}`],
    ['An hour', `at most ${max_per_hour}`],
  ];
}

/** One event and its deliveries. */
export function EventPanel({
  event,
  names,
  onClose,
}: {
  readonly event: Event;
  readonly names: ReadonlyMap<string, string>;
  readonly onClose: () => void;
}): ReactElement {
  const { id, title, text, type, severity, deliveries, values } = event;
  const resend = useChange(() => client.POST('/notifications/events/{id}/resend', { params: { path: { id } } }));
  const mayResend = deliveries.some(({ state }) => state === 'sent' || state === 'failed' || state === 'dropped');
  return (
    <SidePanel title={<Name>{title}</Name>} onClose={onClose}>
      <Section title="What happened">
        <p className="mb-3 whitespace-pre-line">{text}</p>
        <Facts
          of={[
            ['Event', type],
            [
              'Severity',
              <Badge key="severity" tone={SEVERITY_TONES[severity]}>
                {severity}
              </Badge>,
            ],
            ['When', <Ago key="at" at={event.created_at} />],
          ]}
        />
        <div className="mt-3">
          <JsonView value={values} label="Values" />
        </div>
      </Section>
      <Section
        title="Deliveries"
        actions={
          mayResend && (
            <Button icon="refresh" disabled={resend.isPending} onClick={() => resend.mutate(undefined)}>
              Send again
            </Button>
          )
        }
      >
        {deliveries.length === 0 && <p className="text-dim">No channel wanted it.</p>}
        <ul className="flex flex-col gap-2">
          {deliveries.map(({ channel_id: channel, state, attempts, error, sent_at: sentAt }) => (
            <li key={channel} className="flex flex-wrap items-center gap-2">
              <Badge tone={DELIVERY_TONES[state]}>{state}</Badge>
              <Name>{names.get(channel) ?? 'a channel that is gone'}</Name>
              {sentAt !== null && <Ago at={sentAt} />}
              {attempts > 1 && <span className="text-dim">{attempts} attempts</span>}
              {error !== null && <span className="text-bad">{error}</span>}
            </li>
          ))}
        </ul>
        {resend.isError && (
          <p role="alert" className="mt-2 text-bad">
            {resend.error.message}
          </p>
        )}
      </Section>
    </SidePanel>
  );
}
