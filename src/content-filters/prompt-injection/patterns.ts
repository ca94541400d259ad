/** A wording towards a model whose only purpose is to make it leave its instructions. */
export interface InjectionPattern {
  /** `family.what`, as callers see it. */
  readonly name: string;
  /** The text has one of these, in lower case, wherever it matches. */
  readonly words: readonly string[];
  /** Matched without regard to case. `\s+` between words; the detector also reads texts without any spaces. */
  readonly source: string;
}

/** Up to three words in between: `ignore` all of your `previous instructions`. */
const FEW = String.raw`(?:\s+[\w'’]+){0,3}\s+`;
const RULES = String.raw`(?:instructions?|prompts?|rules|directives?|guidelines|commands|constraints|orders|programming)`;
const EARLIER = String.raw`(?:previous|prior|above|earlier|preceding|foregoing|initial|original|existing|current|system|your|all)`;
const SAFETY = String.raw`(?:safety|content|moderation|security|ethical|ethics|policy|usage)`;
const FENCES = String.raw`(?:filters?|guidelines?|guardrails?|restrictions?|polic(?:y|ies)|protocols?|measures?|checks?|limits?|limitations?|controls?)`;
const HIDDEN = String.raw`(?:(?:system|developer|hidden|secret|initial|original|internal)\s+(?:prompt|message|instructions?|rules|directives?)|(?:your|the)\s+(?:initial|original|first|full|exact|hidden)\s+(?:prompt|instructions?))`;

/** Nine families. Patterns of our own. @spec filter-16 */
export const INJECTION_PATTERNS: readonly InjectionPattern[] = [
  {
    name: 'instruction_override.ignore',
    words: ['ignore', 'disregard', 'forget', 'neglect', 'overlook'],
    source: String.raw`\b(?:ignore|disregard|forget|neglect|overlook)${FEW}?(?:${EARLIER}\s+){1,3}${RULES}\b`,
  },
  {
    name: 'instruction_override.ignore_everything',
    words: ['ignore', 'disregard', 'forget'],
    source: String.raw`\b(?:ignore|disregard|forget)\s+(?:everything|anything|all(?:\s+of)?(?:\s+(?:that|what))?)\s+(?:(?:that|which|you)\s+){0,2}(?:above|before|was\s+said|were\s+told|have\s+been\s+told|you(?:'ve|\s+have)?\s+(?:been\s+told|learned|read))\b`,
  },
  {
    name: 'instruction_override.do_not_follow',
    words: ['follow', 'obey', 'listen'],
    source: String.raw`\b(?:do\s+not|don'?t|stop|never)\s+(?:follow(?:ing)?|obey(?:ing)?|listen(?:ing)?\s+to)\s+(?:(?:any|all|the|your|of)\s+){0,3}(?:${EARLIER}\s+){1,2}${RULES}\b`,
  },
  {
    name: 'instruction_override.new_instructions',
    words: ['instructions', 'rules', 'task', 'orders'],
    source: String.raw`\b(?:here\s+are|these\s+are|follow|your)\s+(?:your\s+|my\s+|the\s+following\s+)?new\s+(?:instructions|rules|task|orders)\s*(?::|are\b|instead\b|which\s+replace\b)`,
  },
  {
    name: 'instruction_override.replace',
    words: ['override', 'overwrite', 'supersede', 'replace'],
    source: String.raw`\b(?:overrid(?:e|es|ing)|overwrit(?:e|es|ing)|supersed(?:e|es|ing)|replac(?:e|es|ing))\s+(?:(?:any|all|the|of|every)\s+){0,3}(?:(?:previous|prior|system|original|existing|your)\s+){1,2}${RULES}\b`,
  },
  {
    name: 'developer_mode.enable',
    words: ['mode'],
    source: String.raw`\b(?:enable|activate|enter|switch\s+(?:in)?to|turn\s+on|you\s+are\s+(?:now\s+)?in|go\s+into)\s+(?:the\s+)?(?:developer|admin(?:istrator)?|debug|root|god|sudo|maintenance|unrestricted)\s+mode\b(?=[^.?!\n]{0,80}\b(?:you|your|restrict\w*|filters?|without|ignore|reveal|output|respond|answer|comply)\b|\s{0,3}[.!:]?\s{0,3}$|[.!]\s)`,
  },
  {
    name: 'developer_mode.enabled',
    words: ['mode'],
    source: String.raw`\b(?:developer|admin|debug|god|root|unrestricted|jailbreak)\s+mode\s+(?:is\s+|has\s+been\s+|now\s+)?(?:enabled|activated|unlocked|on)\b(?=[^?\n]{0,80}\b(?:you|your|restrict\w*|without|ignore|reveal|comply)\b|\s{0,3}[.!:]?\s{0,3}$)`,
  },
  {
    name: 'developer_mode.claimed_rights',
    words: ['developer', 'admin', 'creator', 'operator', 'employee', 'engineer'],
    source: String.raw`\b(?:i\s+am|i'm|this\s+is|speaking\s+as)\s+(?:your|an?|the)\s+(?:developer|administrator|admin|creator|operator|(?:openai|anthropic)\s+(?:employee|engineer|developer))\b[^.\n]{0,60}\b(?:you\s+(?:must|will|can\s+now|have\s+to)|reveal|disable|unlock|bypass|override|grant)`,
  },
  {
    name: 'system_override.command',
    words: ['override'],
    source: String.raw`\b(?:system|admin|security|safety|emergency|root)\s+override(?:\s*[:!]|\s+(?:code|command|protocol|engaged|activated|initiated|accepted|authorized))`,
  },
  {
    name: 'system_override.new_prompt',
    words: ['system prompt', 'system message', 'system instruction'],
    source: String.raw`\b(?:new|updated|revised|real|actual)\s+system\s+(?:prompt|message|instructions?)\s*:`,
  },
  {
    name: 'system_override.reset',
    words: ['reset', 'wipe', 'erase', 'clear'],
    source: String.raw`\b(?:reset|wipe|erase|clear)\s+(?:(?:all|your|the|of)\s+){1,3}(?:system\s+prompt|instructions|programming|restrictions|guidelines|initial\s+prompt)\b`,
  },
  {
    name: 'system_override.system_notice',
    words: ['system'],
    source: String.raw`(?:^|\n)[ \t]{0,20}(?:important\s+)?system\s+(?:notice|alert|update|command)\s*:\s*(?:you|ignore|disregard|the\s+(?:assistant|model|ai)|all\s+(?:previous|prior))`,
  },
  {
    name: 'prompt_extraction.reveal',
    words: ['prompt', 'message', 'instruction', 'rules', 'directive'],
    source: String.raw`\b(?:reveal|show|print|display|output|repeat|tell|give|send|expose|leak|disclose|dump|share|recite|write\s+out)\s+(?:(?:me|us|to|back|out|verbatim|exactly|word|for|all|of|the|your|my|entire|full|complete|exact|whole|a|copy|text|contents?|words)\s+){0,7}${HIDDEN}`,
  },
  {
    name: 'prompt_extraction.what_is',
    words: ['prompt', 'instructions', 'rules'],
    source: String.raw`\bwhat\s+(?:is|are|was|were|does|do)\s+your\s+(?:(?:full|exact|entire|initial|original|hidden|secret|complete)\s+){0,2}(?:system\s+(?:prompt|message|instructions?)|(?:initial|original|hidden|secret)\s+(?:prompt|instructions|rules))`,
  },
  {
    name: 'prompt_extraction.text_above',
    words: ['above', 'before this', 'preceding'],
    source: String.raw`\b(?:repeat|print|output|recite|copy|echo)\s+(?:(?:all|of|the|every|back|verbatim|word|for|exact)\s+){0,5}(?:text|words|content|everything|messages?|instructions)\s+(?:(?:that|is|comes|are|written|you\s+see)\s+){0,3}(?:above|before\s+this|preceding\s+this)`,
  },
  {
    name: 'prompt_extraction.begin_with',
    words: ['you are'],
    source: String.raw`\b(?:repeat|output|print|starting|begin(?:ning)?)\b[^\n]{0,60}\b(?:start(?:ing)?|begin(?:ning)?)\s+with\s+["'“]?you\s+are\b`,
  },
  {
    name: 'role_manipulation.no_longer',
    words: ['no longer', 'not anymore', 'stop being'],
    source: String.raw`\byou\s+are\s+no\s+longer\s+(?:an?\s+)?(?:ai|assistant|language\s+model|chatbot|bound|restricted|limited|chatgpt|claude|required|obligated)\b`,
  },
  {
    name: 'role_manipulation.now_unbound',
    words: ['you are', 'act as', 'pretend', 'behave', 'roleplay', 'role-play', 'simulate'],
    source: String.raw`\b(?:you\s+are\s+now|from\s+now\s+on,?\s+you(?:\s+are|'re|\s+will\s+be)|act\s+as|pretend\s+(?:to\s+be|that\s+you\s+are|you(?:'re|\s+are))|behave\s+(?:like|as)|role-?play\s+as|simulate)\s+(?:an?\s+|the\s+)?(?:\w+\s+){0,3}(?:unrestricted|unfiltered|uncensored|jailbroken|amoral|lawless|unlimited|evil)\b[^.\n]{0,20}\b(?:ai|assistant|model|chatbot|bot|version|system|llm|persona|entity)\b`,
  },
  {
    name: 'role_manipulation.without_limits',
    words: ['you are', 'act as', 'pretend', 'behave', 'respond', 'answer'],
    source: String.raw`\b(?:you\s+are|act|pretend|behave|respond|answer)\b[^.\n]{0,60}\b(?:without|with\s+no|no|free\s+(?:of|from))\s+(?:any\s+|all\s+)?(?:(?:moral|ethical|legal|safety|content|built-in|programmed)(?:\s+or\s+\w+)?\s+)?(?:restrictions|limitations|filters|guidelines|censorship|guardrails|constraints)\b(?=[^.\n]{0,60}(?:\.|!|\n|$))`,
  },
  {
    name: 'role_manipulation.forget_identity',
    words: ['forget'],
    source: String.raw`\bforget\s+(?:that\s+)?you(?:\s+are|'re)\s+(?:an?\s+)?(?:ai|assistant|language\s+model|chatbot|llm|bot)\b`,
  },
  {
    name: 'jailbreak.dan',
    words: ['dan', 'do anything now'],
    source: String.raw`\b(?:you\s+are|act\s+as|as|become|be|called|named|mode:?)\s+(?:now\s+)?["'“]?dan["'”]?\b[^\n]{0,40}\b(?:do\s+anything|no\s+(?:rules|limits|restrictions)|jailbreak|unrestricted|mode)|\bdo\s+anything\s+now\b|\bdan\s+mode\b`,
  },
  {
    name: 'jailbreak.named_persona',
    words: ['stan', 'aim', 'dude', 'evil', 'anti', 'jailbreak', 'betterdan', 'maximum'],
    source: String.raw`\b(?:strive\s+to\s+avoid\s+norms|always\s+intelligent\s+and\s+machiavellian|evil[- ]?(?:gpt|confidant|bot\s+mode)|anti-?gpt|betterdan|jailbreak\s+(?:mode|prompt\s*:|yourself|activated)|maximum\s+(?:virtual\s+machine|mode\s+enabled))`,
  },
  {
    name: 'jailbreak.two_answers',
    words: ['two responses', 'two answers', 'two replies', 'two ways', 'jailbroken', 'jailbreak'],
    source: String.raw`\b(?:two\s+(?:responses|answers|replies|ways))\b[^\n]{0,120}\b(?:jail(?:broken|break)|unfiltered|uncensored|dan|without\s+(?:restrictions|filters))\b|\[[^\]\n]{0,10}jail(?:broken|break)\b`,
  },
  {
    name: 'jailbreak.stay_in_character',
    words: ['token', 'character', 'jailbreak'],
    source: String.raw`\byou\s+(?:have|start\s+with|lose)\s+\d{1,4}\s+tokens?\b[^\n]{0,120}\b(?:refuse|reject|lose|die|character)\b|\bstay\s+a\s+jailbreak\b`,
  },
  {
    name: 'safety_bypass.bypass',
    words: ['bypass', 'circumvent', 'disable', 'evade', 'turn off', 'deactivate', 'remove', 'switch off'],
    source: String.raw`\b(?:bypass|circumvent|disable|evade|turn\s+off|switch\s+off|deactivate|remove)\s+(?:(?:all|any|of|the|every)\s+){0,3}(?:your|its|the\s+(?:model|ai|assistant)(?:'s)?)\s+(?:own\s+|built-in\s+|internal\s+)?(?:${SAFETY}\s+(?:and\s+\w+\s+)?)?${FENCES}\b`,
  },
  {
    name: 'safety_bypass.bypass_safety',
    words: ['bypass', 'circumvent', 'ignore', 'evade', 'disregard'],
    source: String.raw`\b(?:bypass|circumvent|ignore|evade|disregard)\s+(?:(?:all|any|of|the|every|your)\s+){0,3}(?:safety|moderation|ethical|content)\s+(?:and\s+\w+\s+)?${FENCES}\b`,
  },
  {
    name: 'safety_bypass.must_not_refuse',
    words: ['refuse', 'decline', 'disclaimer', 'warn'],
    source: String.raw`\byou\s+(?:must|will|should|can(?:not|'t|\s+not)|are\s+not\s+(?:allowed|permitted)\s+to|may)\s+(?:not\s+|never\s+)?(?:refuse|decline)\b[^.\n]{0,60}\b(?:any|request|question|answer|anything|reason|task)\b`,
  },
  {
    name: 'safety_bypass.hypothetical_shield',
    words: ['hypothetical', 'fiction', 'educational'],
    source: String.raw`\b(?:hypothetical|fictional|educational)\b[^.\n]{0,60}\b(?:ignore|bypass|without)\s+(?:all\s+|any\s+|your\s+)*(?:safety|ethical|content|moral)\s+(?:rules|guidelines|restrictions|filters|limits|constraints)\b`,
  },
  {
    name: 'role_spoofing.tag',
    words: ['<', '['],
    source: String.raw`<\s{0,3}/?\s{0,3}(?:system|assistant|developer)(?:[_-](?:prompt|message|instructions?))?\s{0,3}>|\[\s{0,3}/?\s{0,3}(?:system|assistant|developer)(?:[_\s-](?:prompt|message|instructions?))?\s{0,3}\](?!\()`,
  },
  {
    name: 'role_spoofing.turn',
    words: ['system', 'assistant', 'developer'],
    source: String.raw`(?:^|\n)[ \t]{0,20}(?:#{1,6}[ \t]{0,5}|\*\*)?(?:system|developer)(?:\s+(?:prompt|message|instructions?))?(?:\*\*)?\s*:(?:\*\*)?\s*(?:you\s+(?:are|must|will|should)\b|ignore\b|disregard\b|override\b|from\s+now\s+on\b|new\s+instructions?\b)`,
  },
  {
    name: 'role_spoofing.end_of_prompt',
    words: ['end of', 'end system', 'end_of', 'begin'],
    source: String.raw`(?:-{2,5}|={2,5}|#{2,5}|\[|<)\s{0,3}(?:end(?:\s+of|_of)?|begin|start(?:\s+of)?)(?:\s+(?:the|your|new))?[\s_]+(?:system|developer|initial|admin)[\s_]+(?:prompt|message|instructions?)`,
  },
  {
    name: 'control_tokens.chat_markup',
    words: ['<|', '<｜'],
    source: String.raw`<[|｜]\s{0,3}(?:im_start|im_end|im_sep|system|user|assistant|endoftext|endofprompt|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|eom_id|channel|message|start|return|end)\s{0,3}[|｜]>`,
  },
  {
    name: 'control_tokens.instruction_markup',
    words: [
      '[inst]',
      '[/inst]',
      '<<sys>>',
      '<</sys>>',
      '<start_of_turn>',
      '<end_of_turn>',
      '<s>[',
      '[/system_prompt]',
      '[system_prompt]',
    ],
    source: String.raw`\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|\[/?system_prompt\]`,
  },
];
