import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{ledger,observability,postgres,shared-state,simulation}/*.test.ts');
