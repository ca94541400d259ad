import assert from 'node:assert/strict';
import type { Audit } from '../../../src/accounts/audit.ts';
import type { TryFilters } from '../../../src/pipeline/content-filters/try-filters.ts';
import type { ManagementServices } from '../../../src/http/management/route.ts';

/** Nothing is on its way. */
const waitForRecords = (): Promise<void> => Promise.resolve();
/** Nothing was sorted. */
const classifiers = { tagsOf: () => Promise.resolve([]) };
/** Ignores changes. */
const audit: Audit = {
  watch: () => undefined,
  record: () => Promise.resolve(),
  list: () => assert.fail('the test has no audit'),
};

/** Filters find nothing. */
const tryFilters: TryFilters = (_rules, { text }) =>
  Promise.resolve({ outcome: 'passed', text, findings: [], late: [], warnings: [] });

/** The services that a test needs. Use of another one fails the test. */
export function servicesOf(given: Partial<ManagementServices>): ManagementServices {
  const services: object = new Proxy(
    { audit, tryFilters, waitForRecords, classifiers, ...given },
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

/** It is, for code that uses only the given services. */
function isComplete(_services: object): _services is ManagementServices {
  return true;
}
