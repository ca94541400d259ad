import type { Effort } from '../../canonical/request.ts';
import type { JsonObject } from '../../lib/json.ts';
import { pathOfSetting } from '../caller-paths.ts';
import { effortOf, nearestEffort } from '../gateway/efforts.ts';
import { withoutAbsent, type EncodeContext } from './encode-context.ts';

export interface EncodedReasoning {
  /** `reasoning`; `undefined` when nothing of it is to be sent. */
  readonly members: JsonObject | undefined;
  /** The model will reason, so that it takes less of other parameters. */
  readonly isActive: boolean;
}

/** @source generation.md 2.5, 11.4 row R */
export function encodeReasoning(context: EncodeContext): EncodedReasoning {
  const { request, target, warnings, supports } = context;
  const { reasoning, maxTokens } = request.settings;
  const byDefault = target.dialect.reasonsByDefault === true;
  if (reasoning === undefined) return { members: undefined, isActive: byDefault };
  const path = pathOfSetting(request.format, 'reasoning');
  const asked = effortOf(reasoning, maxTokens ?? target.maxOutputTokens);
  if (target.dialect.reasoningSettings === 'none' || !supports('reasoning')) {
    // A model that cannot think need not be told to stop.
    if (asked !== 'none') warnings.add('field-dropped', path, 'the model does not reason, or not on request');
    return { members: undefined, isActive: byDefault };
  }
  const effort = asked && encodeEffort(asked, path, context);
  const members = withoutAbsent({ effort, summary: encodeSummary(path, context), ...encodeModes(path, context) });
  return {
    members: Object.keys(members).length === 0 ? undefined : members,
    isActive: effort === undefined ? byDefault : effort !== 'none',
  };
}

/** @source generation.md 2.5 "Nearest" */
function encodeEffort(asked: Effort, path: string, { target, warnings }: EncodeContext): Effort | undefined {
  const { reasoningEfforts: known, mustReason } = target.dialect;
  const nearest = known === undefined ? asked : nearestEffort(asked, known);
  if (nearest === undefined || (asked === 'none' && mustReason === true)) {
    const why = asked === 'none' ? 'the model cannot be told not to reason' : 'the model knows no efforts';
    warnings.add('field-dropped', `${path}.effort`, why);
    return undefined;
  }
  if (nearest !== asked)
    warnings.add('field-changed', `${path}.effort`, `the model knows no effort ${asked}: it gets ${nearest}`);
  return nearest;
}

/** What is removed from the answer need not be written. Summarized thinking, as the messages format says, is a summary. */
function encodeSummary(path: string, { request, target, warnings }: EncodeContext): string | undefined {
  const { summary, display, exclude } = request.settings.reasoning ?? {};
  const asked = summary ?? (display === 'summarized' ? 'auto' : undefined);
  if (asked === undefined || exclude === true) return undefined;
  const known = target.dialect.reasoningSummaries;
  if (known === undefined || known.includes(asked)) return asked;
  const member = `${path}.${summary === undefined ? 'display' : 'summary'}`;
  const choice = known.includes('auto') ? 'auto' : undefined;
  if (choice === undefined) warnings.add('field-dropped', member, 'the model writes no such summary');
  else warnings.add('field-changed', member, `the model writes no ${asked} summary: it decides itself`);
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
