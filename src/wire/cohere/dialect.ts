/** In what models of the cohere format differ. Everything is off or plain by default. */
export interface CohereDialect {
  /**
   * What the model writes before it calls tools, and takes back: `thinking` parts of the content, or a `tool_plan`
   * beside the calls. A model of the one kind refuses the other's. Absent: unknown, so neither is sent.
   */
  readonly plansIn?: 'thinking' | 'tool_plan';
  /** Takes `tool_choice`; newer models refuse it. */
  readonly forcesTools?: boolean;
}

declare module '../../canonical/extra.ts' {
  interface WireFormats {
    readonly cohere: true;
  }
}

declare module '../format.ts' {
  interface Dialect extends CohereDialect {}
}
