import { z } from 'zod';
import { routerOptions } from '../contract.ts';

export const autoRouterOptions = routerOptions.extend({
  /** Keep to the model of the latest assistant message on later turns. */
  pin_model: z.boolean().optional(),
});
