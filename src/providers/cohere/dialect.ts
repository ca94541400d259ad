import type { Dialect } from '../../wire/format.ts';

// Models from before thinking: Command R, the first Command A and its siblings for translation and vision, and Aya. Every
// later one thinks. Models list of the vendor as kept in crmne/ruby_llm, `providers/cohere/capabilities.rb` (2026-08).
const PLANS_IN_WORDS = /^(?:command-(?:r|a-(?:03-2025|translate|vision)|light|nightly)|command$|c4ai-|(?:tiny-)?aya)/;
// "tool_choice is not supported for this model", says every model after these; same source.
const FORCES_TOOLS = /^command-(?:r|a-(?:03-2025|translate))/;

/** What a Cohere model takes. A name that is not known counts as newer than all. */
export function dialectOf(model: string): Dialect {
  return {
    plansIn: PLANS_IN_WORDS.test(model) ? 'tool_plan' : 'thinking',
    forcesTools: FORCES_TOOLS.test(model),
  };
}
