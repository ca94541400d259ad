import type { GenerationRequest } from '../../../canonical/request.ts';
import { supportsParameter } from '../../../canonical/supports-parameter.ts';
import { effortOf } from '../../gateway/efforts.ts';
import type { EncodeContext } from './encode-context.ts';

/**
 * The request as hosts take it that refuse to be forced to call a tool while they reason, as Claude does: they do not
 * reason then, and what cannot be kept from it chooses itself. @spec reasoning-11
 */
export function withoutForcedReasoning(request: GenerationRequest, context: EncodeContext): GenerationRequest {
  const { dialect, supportedParameters: listed } = context.target;
  const { settings, tools } = request;
  const { toolChoice, reasoning = {} } = settings;
  const forced = tools.length > 0 && (toolChoice?.type === 'required' || toolChoice?.type === 'function');
  if (!forced || dialect.unforcedReasoning !== true) return request;
  if (dialect.mustReason === true) {
    context.warn(
      'field-changed',
      'tool_choice',
      'the model always reasons, and cannot be forced to call a tool meanwhile',
    );
    return { ...request, settings: { ...settings, toolChoice: { type: 'auto' } } };
  }
  if (listed !== undefined && !supportsParameter(listed, 'reasoning')) return request;
  const requested = effortOf(reasoning, settings.maxTokens);
  if (requested !== undefined && requested !== 'none')
    context.warn('field-dropped', 'reasoning', 'the model cannot reason when it is forced to call a tool');
  return { ...request, settings: { ...settings, reasoning: { enabled: false } } };
}
