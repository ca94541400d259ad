import type { RunNotices } from '../../interns/runner-deps.ts';
import type { ScheduleNotices } from '../../interns/schedules.ts';
import type { Notifications } from '../../notifications/notifications.ts';
import type { NewEvent } from '../../notifications/raise.ts';
import type { InternRow } from '../../store/interns/columns.ts';
import type { InternStore } from '../../store/interns/interns.ts';
import type { Log } from '../../telemetry/logs.ts';

interface NoticeDeps {
  readonly notifications: Pick<Notifications, 'raise'>;
  readonly log: Log;
}

export function scheduleNoticesOf({ notifications }: NoticeDeps): ScheduleNotices {
  const raise = (
    { id, name, workspaceId }: InternRow,
    scheduleId: string,
    rest: Pick<NewEvent, 'type' | 'severity' | 'title' | 'text'>,
  ) =>
    void notifications.raise({
      ...rest,
      subject: `intern:${id}`,
      workspaceId,
      facts: { intern_id: id, intern: name, schedule_id: scheduleId },
      link: '/ui/interns',
    });
  return {
    skipped: (intern, scheduleId) =>
      raise(intern, scheduleId, {
        type: 'intern.schedule_skipped',
        severity: 'info',
        title: `The schedule ${scheduleId} of the intern "${intern.name}" was skipped`,
        text: 'As many runs as its limits allow were under way. It begins the next one at its next time.',
      }),
    paused: (intern, scheduleId) =>
      raise(intern, scheduleId, {
        type: 'intern.schedule_paused',
        severity: 'warning',
        title: `The schedule ${scheduleId} of the intern "${intern.name}" is paused`,
        text: 'Five of its runs have failed in a row. Set the schedules of the intern again to resume it.',
      }),
  };
}

/** They name agents and tools, and hold nothing of what a model, a tool or a person said. */
export function noticesOf({ notifications, log }: NoticeDeps, store: Pick<InternStore, 'find'>): RunNotices {
  return {
    needsInput: ({ id, name, workspaceId }, { id: inputId, runId, tool, kind, expiresAtMs }) =>
      void notifications.raise({
        type: 'intern.needs_input',
        severity: 'warning',
        subject: `intern:${id}`,
        workspaceId,
        title: `The intern "${name}" waits for a decision`,
        text: `A run asks about the tool ${tool}. Without a decision it ends at ${new Date(expiresAtMs).toISOString()}.`,
        facts: { intern_id: id, intern: name, run_id: runId, tool, kind },
        link: '/ui/interns',
        mark: `intern.needs_input ${inputId}`,
        markUntilMs: expiresAtMs,
      }),
    failed({ id: runId, internId, state }) {
      const notify = async (): Promise<void> => {
        const intern = await store.find(internId);
        if (intern === undefined) return;
        const { name, workspaceId } = intern;
        await notifications.raise({
          type: 'intern.failed',
          severity: 'warning',
          subject: `intern:${internId}`,
          workspaceId,
          title: `A run of the intern "${name}" ${state === 'expired' ? 'got no decision in time' : 'has failed'}`,
          text: 'Its steps and its error are on the page of the run.',
          facts: { intern_id: internId, intern: name, run_id: runId, state },
          link: '/ui/interns',
        });
      };
      notify().catch((error: unknown) => log.general.warn({ err: error }, 'a failed run could not be reported'));
    },
  };
}
