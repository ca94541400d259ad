import { runTogether } from '../support/run-together.ts';

await runTogether('tests/{*,{accounts,catalog,deploy,embeddings,files,mcp,media,rerank,videos}/*}.test.ts');
