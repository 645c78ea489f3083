import * as z from 'zod/mini';

/** A warning, notice or error of an item: a kind from a fixed vocabulary and one sentence for a person. */
export const Message = z.object({ kind: z.string(), message: z.string() });
export type Message = z.infer<typeof Message>;

/** The one document printed instead of a reply when a verb was refused or failed as a whole. */
export const ErrorReply = z.object({
  error: z.object({ kind: z.string(), message: z.string(), hint: z.string(), details: z.optional(z.unknown()) }),
});
export type ErrorReply = z.infer<typeof ErrorReply>;
