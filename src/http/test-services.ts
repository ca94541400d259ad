import assert from 'node:assert/strict';
import type { Audit } from '../accounts/audit.ts';
import type { ManagementServices } from './management/route.ts';

/** Changes are told to nobody. */
const audit: Audit = { record: () => Promise.resolve(), list: () => assert.fail('the test has no audit') };

/** The services that a test has a use for. Asking for another one fails the test. */
export function servicesOf(given: Partial<ManagementServices>): ManagementServices {
  const services: object = new Proxy(
    { audit, ...given },
    {
      get: (target, name) => {
        const service: unknown = Reflect.get(target, name);
        return service ?? assert.fail(`the test has no ${String(name)}`);
      },
    },
  );
  assert.ok(isComplete(services));
  return services;
}

/** It is, as far as anybody can tell who asks only for what there is. */
function isComplete(_services: object): _services is ManagementServices {
  return true;
}
