import { z } from 'zod';

export const responseHealingOptions = z.object({});
