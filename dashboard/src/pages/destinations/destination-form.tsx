import { useState, type ReactElement } from 'react';
import { client, type Schemas } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Checkbox, Select, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { parseNumber } from '../../parts/number-text.ts';
import { Load } from '../../parts/states.tsx';
import type { Destination } from './columns.tsx';
import {
  draftOf,
  fieldsOf,
  hideSecrets,
  isOtherOrigin,
  maskOf,
  toConfig,
  type ConfigDraft,
  type ConfigField,
} from './config-fields.ts';
import { ConfigInput } from './config-input.tsx';

type Kind = Schemas['ListObservabilityDestinationTypesResponse']['data'][number];

const SHARE_RULES = { isRequired: true, min: 0.01, max: 100 } as const;
const SWITCHES = [
  ['privacy_mode', 'Never content', 'Records go without prompts and responses, whatever the workspace keeps.'],
  ['broadcast_generation_cost', 'With the cost', undefined],
  ['broadcast_generation_identity', 'With key, workspace and member', undefined],
  ['broadcast_generation_request_context', 'With program and attempts', undefined],
] as const;
type Switch = (typeof SWITCHES)[number][0];

interface Draft {
  readonly name: string;
  readonly share: string;
  readonly switches: Readonly<Record<Switch, boolean>>;
  readonly config: ConfigDraft;
  readonly skipsTest: boolean;
}

/** A destination of any kind that the gateway knows: its form is the schema of the kind. */
export function DestinationForm({
  workspaceId,
  destination,
  isOpen,
  onClose,
}: {
  readonly workspaceId: string;
  /** The one to change; absent: a new one. */
  readonly destination?: Destination;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement | undefined {
  const kinds = useRead(['destination-types'], (signal) => client.GET('/observability/destination-types', { signal }), {
    enabled: isOpen,
  });
  if (!isOpen) return undefined;
  return (
    <Load of={kinds}>
      {({ data }) => {
        const first = data.find(({ type }) => type === (destination?.type ?? 'otel-collector')) ?? data[0];
        return first === undefined ? undefined : (
          <KindForm
            workspaceId={workspaceId}
            first={first}
            kinds={data}
            onClose={onClose}
            {...(destination !== undefined && { destination })}
          />
        );
      }}
    </Load>
  );
}

/** The dialog stays as it is when another kind is chosen, so that the focus stays where it was. */

function KindForm({
  workspaceId,
  first,
  kinds,
  destination,
  onClose,
}: {
  readonly workspaceId: string;
  readonly first: Kind;
  readonly kinds: readonly Kind[];
  readonly destination?: Destination;
  readonly onClose: () => void;
}): ReactElement {
  const [{ kind, draft }, setForm] = useState(() => ({ kind: first, draft: openDraft(first, destination) }));
  const fields = fieldsOf(kind.config_schema, kind.secrets);
  const stored = destination?.config ?? {};
  const set = (patch: Partial<Draft>): void => setForm({ kind, draft: { ...draft, ...patch } });
  const isMoved = destination !== undefined && isOtherOrigin(fields, draft.config, stored);
  const config = toConfig(fields, draft.config);
  const body = {
    name: draft.name,
    config,
    ...draft.switches,
    sampling_rate: (parseNumber(draft.share, SHARE_RULES) ?? 100) / 100,
    ...(draft.skipsTest && { skip_test: true }),
  };
  const save = useSave({ type: kind.type, workspace_id: workspaceId }, destination?.id, onClose);
  const choose = (type: string): void => {
    const next = kinds.find((one) => one.type === type);
    if (next === undefined) return;
    save.reset();
    setForm({ kind: next, draft: openDraft(next, destination) });
  };
  const shown = {
    ...(destination === undefined && { type: kind.type, workspace_id: workspaceId }),
    ...body,
    config: hideSecrets(fields, config),
  };
  return (
    <FormDialog
      title={destination === undefined ? 'New destination' : `Change “${destination.name ?? destination.type}”`}
      isOpen
      onClose={onClose}
      change={save}
      input={body}
      submit={destination === undefined ? 'Make destination' : 'Change'}
      request={{
        method: destination === undefined ? 'POST' : 'PATCH',
        path: `/observability/destinations${destination === undefined ? '' : `/${destination.id}`}`,
        body: shown,
      }}
    >
      {destination === undefined && (
        <Select
          label="Kind"
          options={kinds.map(({ type, label }) => ({ value: type, label }))}
          value={kind.type}
          error={issueFor(save.error, 'type')}
          onChange={choose}
        />
      )}
      <TextField
        label="Name"
        value={draft.name}
        required
        error={issueFor(save.error, 'name')}
        onChange={(event) => set({ name: event.target.value })}
      />
      {isMoved && (
        <p role="note" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          The address leads to another origin: stored secrets do not go there, so fill them in again.
        </p>
      )}
      {fields.map((field) => (
        <ConfigInput
          key={field.name}
          field={field}
          value={draft.config[field.name] ?? ''}
          mask={maskOf(field, stored)}
          isMoved={isMoved}
          error={issueFor(save.error, `config.${field.name}`)}
          onChange={(text) => set({ config: { ...draft.config, [field.name]: text } })}
        />
      ))}
      <Switches draft={draft} shareError={issueFor(save.error, 'sampling_rate')} onChange={set} />
    </FormDialog>
  );
}

/** What a destination gets, whatever its kind. */
function Switches({
  draft,
  shareError,
  onChange,
}: {
  readonly draft: Draft;
  readonly shareError: string | undefined;
  readonly onChange: (patch: Partial<Draft>) => void;
}): ReactElement {
  return (
    <>
      <NumberField
        label="Share of sessions, in percent"
        {...SHARE_RULES}
        value={draft.share}
        error={shareError}
        onChange={(share) => onChange({ share })}
      />
      {SWITCHES.map(([name, label, hint]) => (
        <Checkbox
          key={name}
          label={label}
          hint={hint}
          checked={draft.switches[name]}
          onChange={(event) => onChange({ switches: { ...draft.switches, [name]: event.target.checked } })}
        />
      ))}
      <Checkbox
        label="Save it without a test"
        hint="Else it is called once first, without a record, and saved only if it takes the call."
        checked={draft.skipsTest}
        onChange={(event) => onChange({ skipsTest: event.target.checked })}
      />
    </>
  );
}

function openDraft(kind: Kind, destination: Destination | undefined): Draft {
  const fields: readonly ConfigField[] = fieldsOf(kind.config_schema, kind.secrets);
  return {
    name: destination?.name ?? kind.label,
    share: String((destination?.sampling_rate ?? 1) * 100),
    switches: {
      privacy_mode: destination?.privacy_mode ?? true,
      broadcast_generation_cost: destination?.broadcast_generation_cost ?? true,
      broadcast_generation_identity: destination?.broadcast_generation_identity ?? false,
      broadcast_generation_request_context: destination?.broadcast_generation_request_context ?? false,
    },
    config: draftOf(fields, destination?.config ?? {}),
    skipsTest: false,
  };
}

type New = Schemas['CreateObservabilityDestinationRequest'];
type Body = Omit<New, 'type' | 'workspace_id'>;

function useSave(made: Pick<New, 'type' | 'workspace_id'>, id: string | undefined, onDone: () => void) {
  return useChange(async (body: Body) => {
    const { data } =
      id === undefined
        ? await client.POST('/observability/destinations', { body: { ...made, ...body } })
        : await client.PATCH('/observability/destinations/{id}', { params: { path: { id } }, body });
    return { data };
  }, onDone);
}
