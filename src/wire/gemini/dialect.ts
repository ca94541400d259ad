/** Levels of thinking. */
export type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** The setting that makes a model think: up to 2.5 a number of tokens, since 3 a level. */
export type GeminiThinking =
  | {
      readonly by: 'budget';
      readonly tokensMin: number;
      readonly tokensMax: number;
      /** A budget of 0 turns it off. */
      readonly canBeOff: boolean;
      /** Thinks only on request, and shows its thoughts only then. */
      readonly offByDefault?: boolean;
    }
  | {
      readonly by: 'level';
      readonly levels: readonly ThinkingLevel[];
      /** Takes a number of tokens as well, from the time when there were no levels. */
      readonly takesBudget: boolean;
    };

/** What differs from model to model and from host to host. Everything is off or plain by default. */
export interface GeminiFacts {
  /** Absent: it has no setting for thinking. */
  readonly thinking?: GeminiThinking;
  /** Takes JSON Schema (`parametersJsonSchema`, `responseJsonSchema`); otherwise schemas are lowered. */
  readonly jsonSchema?: boolean;
  /** Refuses `systemInstruction`: instructions become user messages. */
  readonly refusesSystem?: boolean;
  /** Refuses functions. */
  readonly refusesTools?: boolean;
  /** Has no JSON mode: it gets an instruction instead. */
  readonly refusesJson?: boolean;
  /** Responses in JSON although it is offered functions; otherwise the two are refused together. */
  readonly jsonBesideTools?: boolean;
  /** Pairs calls and results by `id`; otherwise the member is refused or unknown. */
  readonly callIds?: boolean;
  /** Refuses the first call of a step without its thought signature. */
  readonly signedCalls?: boolean;
  /** Takes files inside a function's result; otherwise they follow it. */
  readonly resultMedia?: boolean;
  /** Knows the mode `VALIDATED`, which holds calls to their schemas. */
  readonly validatedCalls?: boolean;
  /** Refuses `frequencyPenalty` and `presencePenalty`. */
  readonly refusesPenalties?: boolean;
  /** Refuses `responseLogprobs`. */
  readonly refusesLogprobs?: boolean;
  /** Takes `temperature`, `topP` and `topK` and ignores them. */
  readonly fixedSampling?: boolean;
  /** Where the tier is named: in the body (AI Studio), or in a header (Vertex). */
  readonly tierIn?: 'body' | 'header';
  /** Searches the web by itself: the tool `googleSearch`. */
  readonly searchTool?: boolean;
  /** Watches videos at an address of YouTube. */
  readonly youTube?: boolean;
}

/** In what upstreams of the gemini format differ. */
export interface GeminiDialect {
  readonly gemini?: GeminiFacts;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly gemini: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends GeminiDialect {}
}
