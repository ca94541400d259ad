import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';
import type { Channel } from './columns.tsx';

const KINDS = ['webhook', 'slack', 'mattermost', 'discord', 'teams', 'email'] as const;
type Kind = (typeof KINDS)[number];
const KIND_OPTIONS = KINDS.map((kind) => ({ value: kind, label: kind === 'email' ? 'mail' : kind }));
const SEVERITIES = ['info', 'warning', 'critical'] as const;
const SEVERITY_OPTIONS = SEVERITIES.map((severity) => ({ value: severity, label: severity }));
const PER_HOUR = { isRequired: true, min: 1, max: 1_000 } as const;
const USUAL = ['credits.*', 'key.*', 'workspace.*', 'guardrail.*', 'critical'];

interface Draft {
  readonly name: string;
  readonly kind: Kind;
  readonly url: string;
  readonly recipients: string;
  readonly events: readonly string[];
  readonly severity: (typeof SEVERITIES)[number];
  readonly perHour: string;
  readonly isQuiet: boolean;
  readonly from: string;
  readonly to: string;
  readonly tz: string;
}

/** A new channel, or another form of one. */
export function ChannelForm({
  channel,
  isOpen,
  onClose,
  onSecret,
}: {
  /** The one to change; absent: a new one. */
  readonly channel?: Channel;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The secret of a new webhook, which is shown once. */
  readonly onSecret?: (secret: string) => void;
}): ReactElement {
  const [draft, setDraft] = useState(() => openDraft(channel));
  const set = (patch: Partial<Draft>): void => setDraft({ ...draft, ...patch });
  const body = bodyOf(draft);
  const save = useSave(channel, draft.kind, onClose, onSecret);
  const path = channel === undefined ? '/notifications/channels' : `/notifications/channels/${channel.id}`;
  return (
    <FormDialog
      title={channel === undefined ? 'New channel' : `Change “${channel.name}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={save}
      input={body}
      submit={channel === undefined ? 'Make channel' : 'Change'}
      request={{
        method: channel === undefined ? 'POST' : 'PATCH',
        path,
        body: { ...(channel === undefined && { kind: draft.kind }), ...body },
      }}
    >
      {channel === undefined && (
        <Select
          label="Kind"
          options={KIND_OPTIONS}
          value={draft.kind}
          error={issueFor(save.error, 'kind')}
          onChange={(kind) => set({ kind })}
        />
      )}
      <TextField
        label="Name"
        value={draft.name}
        required
        error={issueFor(save.error, 'name')}
        onChange={(event) => set({ name: event.target.value })}
      />
      <Target
        draft={draft}
        error={issueFor(save.error, draft.kind === 'email' ? 'recipients' : 'url')}
        onChange={set}
      />
      <Events chosen={draft.events} isOpen={isOpen} onChange={(events) => set({ events })} />
      <Select
        label="From this severity on"
        options={SEVERITY_OPTIONS}
        value={draft.severity}
        onChange={(severity) => set({ severity })}
      />
      <NumberField
        label="Messages an hour; the rest comes as a digest"
        {...PER_HOUR}
        value={draft.perHour}
        error={issueFor(save.error, 'max_per_hour')}
        onChange={(perHour) => set({ perHour })}
      />
      <Quiet draft={draft} error={issueFor(save.error, 'quiet_hours')} onChange={set} />
    </FormDialog>
  );
}

function Target({
  draft,
  error,
  onChange,
}: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onChange: (patch: Partial<Draft>) => void;
}): ReactElement {
  if (draft.kind === 'email')
    return (
      <TextArea
        label="Recipients, one a line"
        value={draft.recipients}
        required
        error={error}
        onChange={(event) => onChange({ recipients: event.target.value })}
      />
    );
  return (
    <TextField
      label="Address"
      hint="It is a secret: from then on it is shown masked."
      value={draft.url}
      required
      error={error}
      onChange={(event) => onChange({ url: event.target.value })}
    />
  );
}

/** Groups, and each event that is in none of the chosen groups. */
function Events({
  chosen,
  isOpen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly isOpen: boolean;
  readonly onChange: (events: readonly string[]) => void;
}): ReactElement {
  const types = useRead(['event-types'], (signal) => client.GET('/notifications/event-types', { signal }), {
    enabled: isOpen,
  });
  const known = (types.data?.data ?? []).filter(({ type }) => type !== 'notification.test');
  const groups = [...new Set(known.map(({ type }) => `${type.split('.')[0] ?? ''}.*`))];
  const options = ['critical', ...groups];
  const others = chosen.filter((pattern) => !options.includes(pattern));
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-dim">Events</legend>
      {[...options, ...others].map((pattern) => (
        <Checkbox
          key={pattern}
          label={pattern}
          hint={
            pattern === 'critical'
              ? 'Whatever is critical.'
              : known
                  .filter(({ type }) => type === pattern || type.startsWith(pattern.replace('*', '')))
                  .map(({ description }) => description)
                  .join(' ')
          }
          checked={chosen.includes(pattern)}
          onChange={(event) =>
            onChange(event.target.checked ? [...chosen, pattern] : chosen.filter((each) => each !== pattern))
          }
        />
      ))}
    </fieldset>
  );
}

function Quiet({
  draft,
  error,
  onChange,
}: {
  readonly draft: Draft;
  readonly error: string | undefined;
  readonly onChange: (patch: Partial<Draft>) => void;
}): ReactElement {
  return (
    <>
      <Checkbox
        label="Quiet hours"
        hint="Only what is critical comes at once; the rest comes as one digest at their end."
        checked={draft.isQuiet}
        onChange={(event) => onChange({ isQuiet: event.target.checked })}
      />
      {draft.isQuiet && (
        <div className="grid grid-cols-3 gap-2">
          <TextField
            label="From"
            type="time"
            value={draft.from}
            required
            onChange={(event) => onChange({ from: event.target.value })}
          />
          <TextField
            label="To"
            type="time"
            value={draft.to}
            required
            onChange={(event) => onChange({ to: event.target.value })}
          />
          <TextField
            label="Time zone"
            value={draft.tz}
            required
            error={error}
            onChange={(event) => onChange({ tz: event.target.value })}
          />
        </div>
      )}
    </>
  );
}

function openDraft(channel: Channel | undefined): Draft {
  const quiet = channel?.quiet_hours ?? undefined;
  return {
    name: channel?.name ?? '',
    kind: channel?.kind ?? 'webhook',
    url: channel?.url ?? '',
    recipients: (channel?.recipients ?? []).join('\n'),
    events: channel?.events ?? USUAL,
    severity: channel?.min_severity ?? 'info',
    perHour: String(channel?.max_per_hour ?? 30),
    isQuiet: quiet !== undefined,
    from: quiet?.from ?? '22:00',
    to: quiet?.to ?? '07:00',
    tz: quiet?.tz ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
}

type Body = Omit<Schemas['CreateNotificationChannelRequest'], 'kind'>;

function bodyOf(draft: Draft): Body {
  const { name, kind, url, recipients, events, severity, isQuiet, from, to, tz } = draft;
  return {
    name,
    ...(kind === 'email' ? { recipients: recipients.split(/\s+/).filter((one) => one !== '') } : { url }),
    events: [...events],
    min_severity: severity,
    max_per_hour: parseNumber(draft.perHour, PER_HOUR) ?? 30,
    quiet_hours: isQuiet ? { from, to, tz } : null,
  };
}

function useSave(
  channel: Channel | undefined,
  kind: Kind,
  onDone: () => void,
  onSecret: ((secret: string) => void) | undefined,
) {
  return useChange(async (body: Body) => {
    const { data } =
      channel === undefined
        ? await client.POST('/notifications/channels', { body: { kind, ...body } })
        : await client.PATCH('/notifications/channels/{id}', { params: { path: { id: channel.id } }, body });
    if (data?.secret !== undefined) onSecret?.(data.secret);
    return { data };
  }, onDone);
}
