export interface RefusalDetails {
  /** chat: the member at fault. */
  readonly param?: string;
  /** chat: `error.code`. */
  readonly code?: string;
}

/** The sandbox refuses a request, in the words of a strict vendor. Encoded in the format of the request. */
export class Refusal extends Error {
  readonly status: number;
  readonly param: string | undefined;
  readonly code: string | undefined;

  constructor(status: number, message: string, { param, code }: RefusalDetails = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.param = param;
    this.code = code;
  }
}
