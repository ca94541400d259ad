import { routerOptions } from '../contract.ts';

export const autoBetaRouterOptions = routerOptions;
