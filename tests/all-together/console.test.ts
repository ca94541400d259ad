import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{accounts/{console,evaluations,interns,people},mcp/oauth}/*.test.ts');
