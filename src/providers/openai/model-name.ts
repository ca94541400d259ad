import type { Effort } from '../../canonical/request.ts';

/** What a model's name says of it. */
export interface ModelName {
  readonly series: 'gpt' | 'o';
  /** One number that grows with the generations: 5.04 for GPT-5.4, 5.1 would be GPT-5.10. */
  readonly generation: number;
  /** What follows: `-mini-2026-03-17`. */
  readonly variant: string;
}

const NAME = /^(?:ft:)?(?:(o)|gpt-)(\d+)(?:\.(\d+))?(.*)$/;
/** A generation has fewer minor versions than this. */
const MINOR_VERSIONS = 100;

const UP_TO_HIGH: readonly Effort[] = ['low', 'medium', 'high'];
const UP_TO_XHIGH: readonly Effort[] = [...UP_TO_HIGH, 'xhigh'];
const UP_TO_MAX: readonly Effort[] = [...UP_TO_XHIGH, 'max'];

export function readName(model: string): ModelName | undefined {
  const [whole, o, major = '0', minor = '0', variant = ''] = NAME.exec(model) ?? [];
  if (whole === undefined) return undefined;
  return { series: o === undefined ? 'gpt' : 'o', generation: Number(major) + Number(minor) / MINOR_VERSIONS, variant };
}

/** `gpt-5-chat-latest` does not, later chat models do: pydantic-ai, profiles/openai.py, tried live 2026-07. */
export function doesReason({ series, generation, variant }: ModelName): boolean {
  return series === 'o' || generation > 5 || (generation === 5 && !isChat(variant));
}

/**
 * The efforts that a model that reasons knows. GPT-5.6 and 6: developers.openai.com "Deployment checklist", read 2026-11.
 * Before: learn.microsoft.com "ReasoningEffort", read 2026-11, and the vendor's own "Supported values are ..."
 * (anomalyco/opencode#4451, 2025-11).
 */
export function effortsOf({ series, generation, variant }: ModelName): readonly Effort[] {
  // Fixed: pydantic-ai, profiles/openai.py, tried live 2026-07.
  if (isChat(variant) || variant.includes('-deep-research')) return ['medium'];
  if (series === 'o') return UP_TO_HIGH;
  if (generation >= 6) return generation === 6 && /^-(?:sol|luna)/.test(variant) ? ['none', ...UP_TO_MAX] : UP_TO_MAX;
  if (generation >= 5.06) return ['none', ...UP_TO_MAX];
  if (variant.startsWith('-pro')) return generation === 5 ? ['high'] : ['medium', 'high', 'xhigh'];
  if (generation >= 5.03) return ['none', ...UP_TO_XHIGH];
  if (generation === 5.02) return isCodex(variant) ? UP_TO_XHIGH : ['none', ...UP_TO_XHIGH];
  if (isCodex(variant)) return variant.startsWith('-codex-max') ? UP_TO_XHIGH : UP_TO_HIGH;
  return generation === 5 ? ['minimal', ...UP_TO_HIGH] : ['none', ...UP_TO_HIGH];
}

export function isChat(variant: string): boolean {
  return variant.startsWith('-chat');
}

export function isCodex(variant: string): boolean {
  return variant.startsWith('-codex');
}
