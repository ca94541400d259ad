import { useState, type ReactElement } from 'react';
import { client } from '../../api/client.ts';
import { useChange, useRead } from '../../api/read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { DeleteDialog } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Load } from '../../parts/states.tsx';
import { Ago, Name } from '../../parts/text.tsx';
import type { Intern } from './columns.tsx';
import { ScheduleForm } from './schedule-form.tsx';

const SCHEDULES_MAX = 10;
const EVERY_MS = 10_000;

type Schedule = Intern['schedules'][number];
/** `new`, or the one that is changed. */
type Open = { readonly change: 'new' | Schedule } | { readonly remove: Schedule };

/** When an intern runs by itself. */
export function SchedulesSection({ intern }: { readonly intern: Intern }): ReactElement {
  const [open, setOpen] = useState<Open>();
  const { id: internId, schedules: settings, status } = intern;
  const params = { path: { internId } };
  const schedules = useRead(
    ['intern-schedules', internId, intern.version],
    (signal) => client.GET('/interns/{internId}/schedules', { signal, params }),
    { everyMs: EVERY_MS },
  );
  const save = useChange((input: readonly Schedule[]) =>
    client.PATCH('/interns/{internId}', { params, body: { schedules: [...input] } }),
  );
  const removed = open !== undefined && 'remove' in open ? open.remove : undefined;
  const remove = useChange(
    () =>
      client.PATCH('/interns/{internId}', {
        params,
        body: { schedules: settings.filter(({ id }) => id !== removed?.id) },
      }),
    () => setOpen(undefined),
  );
  const changed = open !== undefined && 'change' in open ? open.change : undefined;
  return (
    <Section
      title="Schedules"
      actions={
        settings.length < SCHEDULES_MAX && (
          <Button icon="plus" onClick={() => setOpen({ change: 'new' })}>
            New schedule
          </Button>
        )
      }
    >
      {settings.length === 0 ? (
        <p className="text-dim">None: a message to its chat alone begins a run.</p>
      ) : (
        <Load of={schedules} rows={2}>
          {({ data }) => (
            <ul className="flex flex-col gap-2">
              {settings.map((schedule) => {
                const row = data.find(({ id }) => id === schedule.id);
                const isPaused = row?.paused_at !== null && row?.paused_at !== undefined;
                return (
                  <Row
                    key={schedule.id}
                    schedule={schedule}
                    nextAt={row?.next_at ?? null}
                    isPaused={isPaused}
                    isStopped={status !== 'running'}
                    isBusy={save.isPending}
                    onSwitch={() => save.mutate(isPaused ? settings : switched(settings, schedule.id))}
                    onChange={() => setOpen({ change: schedule })}
                    onRemove={() => setOpen({ remove: schedule })}
                  />
                );
              })}
            </ul>
          )}
        </Load>
      )}
      {save.isError && (
        <p role="alert" className="mt-2 text-bad">
          {save.error.message}
        </p>
      )}
      <ScheduleForm
        key={changed === undefined ? '' : changed === 'new' ? 'new' : `change ${changed.id}`}
        intern={intern}
        {...(changed !== undefined && changed !== 'new' && { schedule: changed })}
        isOpen={changed !== undefined}
        onClose={() => setOpen(undefined)}
      />
      <DeleteDialog
        key={removed?.id ?? ''}
        what="schedule"
        name={removed?.id ?? ''}
        isOpen={removed !== undefined}
        onClose={() => setOpen(undefined)}
        change={remove}
      >
        A run that it began goes on.
      </DeleteDialog>
    </Section>
  );
}

function switched(schedules: readonly Schedule[], id: string): readonly Schedule[] {
  return schedules.map((each) => (each.id === id ? { ...each, enabled: !each.enabled } : each));
}

function Row({
  schedule,
  nextAt,
  isPaused,
  isStopped,
  isBusy,
  onSwitch,
  onChange,
  onRemove,
}: {
  readonly schedule: Schedule;
  readonly nextAt: string | null;
  /** After failures. */
  readonly isPaused: boolean;
  /** The intern does not run. */
  readonly isStopped: boolean;
  readonly isBusy: boolean;
  readonly onSwitch: () => void;
  readonly onChange: () => void;
  readonly onRemove: () => void;
}): ReactElement {
  const { id, cron, tz, prompt, enabled, catch_up: catchUp } = schedule;
  const step = isPaused ? 'Resume' : enabled ? 'Switch off' : 'Switch on';
  return (
    <li className="flex flex-col gap-1 rounded-md border border-line p-2">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{id}</span>
        <span className="font-mono text-xs">
          <Name>{cron}</Name>
        </span>
        <span className="text-dim">{tz}</span>
        {isPaused && <Badge tone="bad">paused after 5 failures</Badge>}
        {!enabled && <Badge>off</Badge>}
        <span className="ml-auto">
          {!enabled || isPaused ? (
            'not due'
          ) : isStopped ? (
            'waits for its intern'
          ) : nextAt === null ? (
            'not due'
          ) : (
            <>
              next <Ago at={nextAt} />
            </>
          )}
        </span>
      </div>
      <p className="line-clamp-3 break-words whitespace-pre-wrap text-dim">
        <Name>{prompt}</Name>
      </p>
      <div className="flex flex-wrap items-center gap-1.5">
        <Button aria-label={`Change ${id}`} onClick={onChange}>
          Change
        </Button>
        <Button aria-label={`${step} ${id}`} disabled={isBusy} onClick={onSwitch}>
          {step}
        </Button>
        <Button icon="trash" aria-label={`Delete ${id}`} onClick={onRemove} />
        {catchUp === 'once' && <span className="text-dim">makes up for missed times, once</span>}
      </div>
    </li>
  );
}
