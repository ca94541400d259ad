import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange } from '../../api/read.ts';
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx';
import { FormDialog, issueFor } from '../../parts/form.tsx';
import type { Intern } from './columns.tsx';

type Schedule = Intern['schedules'][number];

/** Usual times, to begin with. */
const USUAL = [
  { value: '', label: 'other' },
  { value: '0 * * * *', label: 'each hour' },
  { value: '30 8 * * *', label: 'each day at 8:30' },
  { value: '30 8 * * mon-fri', label: 'Monday to Friday at 8:30' },
  { value: '0 9 * * mon', label: 'Mondays at 9:00' },
  { value: '0 9 1 * *', label: 'on the first of a month at 9:00' },
] as const;
const NEW: Schedule = { id: '', cron: '30 8 * * mon-fri', tz: 'UTC', prompt: '', enabled: true, catch_up: 'none' };
const ZONES = 'time-zones';

/** By the clock of the browser. */
function openDraft(): Schedule {
  return { ...NEW, tz: Intl.DateTimeFormat().resolvedOptions().timeZone };
}

/** A new schedule of an intern, or another form of one. */
export function ScheduleForm({
  intern,
  schedule,
  isOpen,
  onClose,
}: {
  readonly intern: Intern;
  /** The one to change; absent: a new one. */
  readonly schedule?: Schedule;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}): ReactElement {
  const [draft, setDraft] = useState(() => schedule ?? openDraft());
  const set = (patch: Partial<Schedule>): void => setDraft({ ...draft, ...patch });
  // The list is replaced as a whole.
  const body = {
    schedules:
      schedule === undefined
        ? [...intern.schedules, draft]
        : intern.schedules.map((each) => (each.id === schedule.id ? draft : each)),
  };
  const save = useChange(
    (input: typeof body) =>
      client.PATCH('/interns/{internId}', { params: { path: { internId: intern.id } }, body: input }),
    onClose,
  );
  const usual = USUAL.find(({ value }) => value === draft.cron)?.value ?? '';
  return (
    <FormDialog
      title={schedule === undefined ? 'New schedule' : `Change “${schedule.id}”`}
      isOpen={isOpen}
      onClose={onClose}
      change={save}
      input={body}
      submit={schedule === undefined ? 'Make schedule' : 'Change'}
      request={{ method: 'PATCH', path: `/interns/${intern.id}`, body }}
    >
      {schedule === undefined && (
        <TextField
          label="Name"
          value={draft.id}
          required
          autoFocus
          placeholder="morning"
          pattern="[A-Za-z0-9_\-]{1,32}"
          title="1 to 32 letters, digits, - or _"
          error={issueFor(save.error, 'id')}
          onChange={(event) => set({ id: event.target.value })}
        />
      )}
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2">
        <Select label="When" options={USUAL} value={usual} onChange={(cron) => cron !== '' && set({ cron })} />
        <TextField
          label="As cron"
          value={draft.cron}
          required
          spellCheck={false}
          className="font-mono"
          hint="Minute, hour, day, month, day of the week."
          error={issueFor(save.error, 'cron')}
          onChange={(event) => set({ cron: event.target.value })}
        />
      </div>
      <TextField
        label="Time zone"
        value={draft.tz}
        required
        spellCheck={false}
        list={ZONES}
        hint="Whose clock counts, in summer and in winter."
        error={issueFor(save.error, 'tz')}
        onChange={(event) => set({ tz: event.target.value })}
      />
      <datalist id={ZONES}>
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <TextArea
        label="Prompt"
        rows={4}
        value={draft.prompt}
        required
        hint="The message that begins each run, in a session of its own."
        error={issueFor(save.error, 'prompt')}
        onChange={(event) => set({ prompt: event.target.value })}
      />
      <Checkbox
        label="Make up for missed times, once"
        hint="After the gateway or the intern was stopped. Otherwise missed times are left out."
        checked={draft.catch_up === 'once'}
        onChange={(event) => set({ catch_up: event.target.checked ? 'once' : 'none' })}
      />
      <Checkbox label="On" checked={draft.enabled} onChange={(event) => set({ enabled: event.target.checked })} />
    </FormDialog>
  );
}
