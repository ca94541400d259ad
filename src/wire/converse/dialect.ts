/** Kinds of media that have a block of their own here. */
export type ConverseMedia = 'image' | 'document' | 'video';

/** What models behind one and the same wire take and refuse. Everything is off or plain by default. */
export interface ConverseFacts {
  /**
   * A Claude: knows members of the messages format in `additionalModelRequestFields`, signs its reasoning and takes it
   * back, cites documents. `thinking` and `efforts` state how it thinks.
   */
  readonly claude?: boolean;
  /** The member that makes other models think. Absent: they have none. */
  readonly reasoning?: 'reasoningConfig' | 'reasoning_effort' | 'reasoning_config';
  /** Always thinks; the off switch is refused. */
  readonly alwaysThinks?: boolean;
  /** Beta features that may be switched on, without their date. */
  readonly betas?: readonly string[];
  /** Where `top_k` goes in `additionalModelRequestFields`. Absent: nowhere. */
  readonly topK?: 'top_k' | 'inferenceConfig';
  /** Refuses `temperature` and `topP` together. */
  readonly oneSampler?: boolean;
  /** Refuses `stopSequences`. */
  readonly refusesStop?: boolean;
  /** Refuses `system`. */
  readonly refusesSystem?: boolean;
  /** Refuses `toolConfig`. */
  readonly refusesTools?: boolean;
  /** Which tools it can be made to call. Absent: unknown, so the choice is sent. */
  readonly forces?: readonly ('any' | 'tool')[];
  /** Holds calls to their schemas (`strict`). */
  readonly strictTools?: boolean;
  /** Where it takes `cachePoint`s: everywhere, or neither among tools nor beside their calls. Absent: nowhere. */
  readonly cachePoints?: 'everywhere' | 'apart-from-tools';
  /** Takes a `ttl` in a `cachePoint`. */
  readonly cacheTtl?: boolean;
  /** What it reads. Absent: unknown, so everything is sent. */
  readonly media?: readonly ConverseMedia[];
  /** What it reads inside the result of a tool; the rest is sent after it. Default: images. */
  readonly mediaInResults?: readonly ConverseMedia[];
  /** What may share a message with results of tools. Default: everything. */
  readonly besideResults?: readonly ('text' | ConverseMedia)[];
  /** Refuses the `status` of a tool's result. */
  readonly refusesResultStatus?: boolean;
  /** Takes a conversation that begins with the assistant. */
  readonly leadingAssistant?: boolean;
  /** Takes only ids of nine letters and digits for tool calls. */
  readonly shortToolIds?: boolean;
}

/** In what models of the converse format differ. */
export interface ConverseDialect {
  readonly converse?: ConverseFacts;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly converse: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends ConverseDialect {}
}
