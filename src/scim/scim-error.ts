/** @source RFC 7644, 3.12 */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'tooMany'
  | 'uniqueness';

const SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

export const SCIM_IS_OFF =
  'SCIM is off. Set "scim: { enabled: true }" and "organization: { enabled: true }" in the configuration of the gateway.';

/** A refusal in the words of the protocol. */
export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | undefined;

  constructor(status: number, message: string, scimType?: ScimType, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ScimError';
    this.status = status;
    this.scimType = scimType;
  }
}

/** `status` is a text: clients parse no number. @source RFC 7644, 3.12 */
export function serializeScimError(status: number, detail: string, scimType?: ScimType): object {
  return { schemas: [SCHEMA], status: String(status), ...(scimType !== undefined && { scimType }), detail };
}

export function invalidValue(detail: string): ScimError {
  return new ScimError(400, detail, 'invalidValue');
}

export function unknownResource(): ScimError {
  return new ScimError(404, 'There is no such resource.');
}

/** A method that a path does not take. @source RFC 9110, 15.5.6 */
export class WrongMethod extends ScimError {
  /** The value of the header `Allow`. */
  readonly allow: string;

  constructor(allow: string) {
    super(405, `This path takes ${allow} alone.`);
    this.name = 'WrongMethod';
    this.allow = allow;
  }
}
