import type { Effort } from '../../../canonical/request.ts';
import type { JsonObject } from '../../../lib/json.ts';
import { pathOfSetting } from '../../gateway/source/source-paths.ts';
import { effortOf, nearestEffort } from '../../gateway/efforts.ts';
import type { EncodeContext } from './encode-context.ts';
import { withoutAbsent } from '../../json-fields.ts';

export interface EncodedReasoning {
  /** `reasoning`; `undefined` when nothing of it is to be sent. */
  readonly members: JsonObject | undefined;
  /** The model will reason, so that it takes less of other parameters. */
  readonly isActive: boolean;
}

/** @spec reasoning-7, reasoning-14 */
export function encodeReasoning(context: EncodeContext): EncodedReasoning {
  const { request, target, warnings, supports } = context;
  const { reasoning, maxTokens } = request.settings;
  const byDefault = target.dialect.reasonsByDefault === true;
  if (reasoning === undefined) return { members: undefined, isActive: byDefault };
  const path = pathOfSetting(request.format, 'reasoning');
  const requested = effortOf(reasoning, maxTokens ?? target.maxOutputTokens);
  if (target.dialect.reasoningSettings === 'none' || !supports('reasoning')) {
    // A model that cannot think needs no switch.
    if (requested !== 'none') warnings.add('field-dropped', path, 'the model does not reason, or not on request');
    return { members: undefined, isActive: byDefault };
  }
  const effort = requested && encodeEffort(requested, path, context);
  const members = withoutAbsent({ effort, summary: encodeSummary(path, context), ...encodeModes(path, context) });
  return {
    members: Object.keys(members).length === 0 ? undefined : members,
    isActive: effort === undefined ? byDefault : effort !== 'none',
  };
}

/** @spec reasoning-3 */
function encodeEffort(requested: Effort, path: string, { target, warnings }: EncodeContext): Effort | undefined {
  const { reasoningEfforts: known, mustReason } = target.dialect;
  const nearest = known === undefined ? requested : nearestEffort(requested, known);
  if (nearest === undefined || (requested === 'none' && mustReason === true)) {
    const why =
      requested === 'none' ? 'the model has no setting that turns reasoning off' : 'the model knows no efforts';
    warnings.add('field-dropped', `${path}.effort`, why);
    return undefined;
  }
  if (nearest !== requested)
    warnings.add('field-changed', `${path}.effort`, `the model knows no effort ${requested}: it gets ${nearest}`);
  return nearest;
}

/** What is removed from the response need not be written. Summarized thinking of the messages format is a summary. */
function encodeSummary(path: string, { request, target, warnings }: EncodeContext): string | undefined {
  const { summary, display, exclude } = request.settings.reasoning ?? {};
  const requested = summary ?? (display === 'summarized' ? 'auto' : undefined);
  if (requested === undefined || exclude === true) return undefined;
  const known = target.dialect.reasoningSummaries;
  if (known === undefined || known.includes(requested)) return requested;
  const member = `${path}.${summary === undefined ? 'display' : 'summary'}`;
  const choice = known.includes('auto') ? 'auto' : undefined;
  if (choice === undefined) warnings.add('field-dropped', member, 'the model writes no such summary');
  else warnings.add('field-changed', member, `the model writes no ${requested} summary: it decides itself`);
  return choice;
}

function encodeModes(path: string, { request, target, warnings }: EncodeContext): JsonObject {
  const { mode, context } = request.settings.reasoning ?? {};
  const { reasoningModes, reasoningContexts = [] } = target.dialect;
  const takesMode = reasoningModes === true;
  const takesContext = context !== undefined && reasoningContexts.includes(context);
  if (mode !== undefined && !takesMode) warnings.add('field-dropped', `${path}.mode`, 'the model has no modes');
  if (context !== undefined && !takesContext)
    warnings.add('field-dropped', `${path}.context`, 'the model does not take it');
  return { mode: takesMode ? mode : undefined, context: takesContext ? context : undefined };
}
