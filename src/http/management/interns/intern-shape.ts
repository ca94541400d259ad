import { z } from 'zod';
import type { Principal } from '../../../accounts/principal.ts';
import { GatewayError } from '../../../canonical/gateway-error.ts';
import { PROVISION_STEPS } from '../../../interns/lifecycle.ts';
import type { Interns } from '../../../interns/interns.ts';
import { usdFromNano } from '../../../lib/money.ts';
import {
  INTERN_STATUSES,
  internSettingsSchema,
  RUN_ENDINGS,
  RUN_STATES,
  STEP_KINDS,
  STEP_STATES,
} from '../../../resources/interns.ts';
import { serializeTime } from '../../../resources/columns.ts';
import type { Intern, InternRun, InternStep } from '../../../interns/rows.ts';
import { callerOf } from '../owner.ts';
import type { RouteContext } from '../route.ts';

export const internPath = z.strictObject({ internId: z.string().describe('The `id` of the intern.') });
export const runPath = z.strictObject({
  internId: z.string().describe('The `id` of the intern.'),
  runId: z.string().describe('The `id` of the run.'),
});

export const internSchema = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    instructions: z.string(),
    model: z.string().nullable().describe('Null: the default of the workspace.'),
    status: z.enum(INTERN_STATUSES),
    progress: z
      .strictObject({
        stepLabel: z.string(),
        stepNumber: z.int(),
        totalSteps: z.int(),
        step_label: z.string(),
        step_number: z.int(),
        total_steps: z.int(),
      })
      .nullable()
      .describe('Of provisioning; null: none is under way.'),
    lastFailureMessage: z.string().nullable(),
    hostname: z.null().describe('Interns have no public host here.'),
    vault_id: z.string().describe('Its own vault, which has its id.'),
    workspaceId: z.string(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    last_failure_message: z.string().nullable().describe('As `lastFailureMessage`.'),
    workspace_id: z.string().describe('As `workspaceId`.'),
    created_at: z.iso.datetime().describe('As `createdAt`.'),
    updated_at: z.iso.datetime().describe('As `updatedAt`.'),
    ...internSettingsSchema.shape,
    version: z.int().describe('Counts changes; a run keeps the version that it began with.'),
    key_hash: z.string().describe('The key that pays for its runs, with the limit of its budget.'),
  })
  .meta({ id: 'Intern' });

/**
 * The intern in `data`, as other routes have what they name, and its members beside it, where the public SDK reads them.
 * Both namings have been published. @source `@openrouter/sdk` 1.3.19, `Intern`
 */
export const internAnswer = internSchema.extend({ data: internSchema }).meta({ id: 'InternResponse' });

export function answerIntern(row: Intern): z.output<typeof internAnswer> {
  const intern = serializeIntern(row);
  return { data: intern, ...intern };
}

export function serializeIntern(row: Intern): z.output<typeof internSchema> {
  const { id, name, description, instructions, model, status, step, failure, workspaceId, settings, version } = row;
  return {
    id,
    name,
    description,
    instructions,
    model,
    status,
    progress:
      step === null
        ? null
        : {
            stepLabel: PROVISION_STEPS[step - 1] ?? '',
            stepNumber: step,
            totalSteps: PROVISION_STEPS.length,
            step_label: PROVISION_STEPS[step - 1] ?? '',
            step_number: step,
            total_steps: PROVISION_STEPS.length,
          },
    lastFailureMessage: failure,
    hostname: null,
    vault_id: id,
    workspaceId,
    createdAt: serializeTime(row.createdAtMs),
    updatedAt: serializeTime(row.updatedAtMs),
    last_failure_message: failure,
    workspace_id: workspaceId,
    created_at: serializeTime(row.createdAtMs),
    updated_at: serializeTime(row.updatedAtMs),
    ...settings,
    version,
    key_hash: row.keyHash,
  };
}

export const runSchema = z
  .strictObject({
    id: z.string(),
    session_id: z.string(),
    version: z.int(),
    trigger: z.enum(['chat', 'api', 'schedule']),
    schedule_id: z.string().nullable().describe('The schedule that began it.'),
    state: z.enum(RUN_STATES),
    step: z.int().describe('Of its last step; 0: none.'),
    spent_usd: z.number(),
    approval_mode: z.enum(['manual', 'self-drive']),
    ending: z.enum(RUN_ENDINGS).nullable().describe('Why a run that is done has ended.'),
    error: z.string().nullable(),
    created_at: z.iso.datetime(),
    finished_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'InternRun' });

export function serializeRun(row: InternRun): z.output<typeof runSchema> {
  const {
    id,
    sessionId,
    version,
    runTrigger: trigger,
    state,
    step,
    approvalMode,
    ending,
    error,
    finishedAtMs,
    scheduleId,
  } = row;
  return {
    id,
    session_id: sessionId,
    version,
    trigger,
    schedule_id: scheduleId,
    state,
    step,
    spent_usd: usdFromNano(row.spentNanoUsd),
    approval_mode: approvalMode,
    ending,
    error,
    created_at: serializeTime(row.createdAtMs),
    finished_at: finishedAtMs === null ? null : serializeTime(finishedAtMs),
  };
}

export const stepSchema = z
  .strictObject({
    n: z.int(),
    kind: z.enum(STEP_KINDS),
    name: z.string().describe('The model, or the function that was called.'),
    state: z.enum(STEP_STATES).describe('`unknown`: the gateway stopped while it ran, and it is not repeated.'),
    attempts: z.int(),
    cost_usd: z.number(),
    generation_id: z.string().nullable(),
    tool_call_id: z.string().nullable(),
    input: z.string().nullable().describe('Arguments as JSON text; null: none, or no longer kept.'),
    output: z.string().nullable().describe('What came of it; null: nothing yet, or no longer kept.'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'InternStep' });

export function serializeStep(
  row: InternStep,
  { input, output }: { readonly input?: string | undefined; readonly output?: string | undefined },
): z.output<typeof stepSchema> {
  const { n, kind, name, state, attempts, generationId, callId } = row;
  return {
    n,
    kind,
    name,
    state,
    attempts,
    cost_usd: usdFromNano(row.costNanoUsd),
    generation_id: generationId,
    tool_call_id: callId === '' ? null : callId,
    input: input ?? null,
    output: output ?? null,
    created_at: serializeTime(row.createdAtMs),
    updated_at: serializeTime(row.updatedAtMs),
  };
}

/** @throws GatewayError 404 with how to turn them on */
export function internsOf({
  services,
  principal,
}: Pick<RouteContext<unknown, unknown, unknown>, 'services' | 'principal'>): {
  readonly interns: Interns;
  readonly caller: Principal;
} {
  const { interns } = services;
  if (interns === undefined)
    throw new GatewayError(
      'not_found',
      'Interns are off. Set interns: { enabled: true } in the configuration of the gateway, and start it again.',
    );
  return { interns, caller: callerOf(principal) };
}
