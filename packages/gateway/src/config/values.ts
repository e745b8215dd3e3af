/**
 * The value types that configuration is made of: durations and sizes as people write them, and the small shapes that
 * several sections share. Input is what people write, output is milliseconds and bytes.
 */
import { durationMs, messageOf, sizeBytes } from "@holdfast/base";
import { z } from "zod";

type Parse = (value: string | number) => number;

function quantity(parse: Parse, example: string) {
  return z.union([z.string(), z.number()], { error: `expected ${example}` }).transform((value, context) => {
    try {
      return parse(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: messageOf(error) });
      return z.NEVER;
    }
  });
}

/** `"30s"` or milliseconds → milliseconds. */
export const duration = quantity(durationMs, 'a duration such as "30s", "5m", "2h" or milliseconds').meta({
  title: "duration",
});
/** A duration that must not be shorter than `shortest`, for what would stop everything at 0. */
export function durationFrom(shortest: string) {
  const parse: Parse = (value) => {
    const ms = durationMs(value);
    if (ms < durationMs(shortest)) throw new TypeError(`too short: write at least "${shortest}"`);
    return ms;
  };
  return quantity(parse, `a duration of at least "${shortest}"`).meta({ title: "duration" });
}
/** `"100mb"` or bytes → bytes. */
export const size = quantity(sizeBytes, 'a size such as "100mb" or bytes').meta({ title: "size" });

export const count = z.int().nonnegative();
export const positive = z.int().positive();
export const ratio = z.number().min(0).max(1);
export const names = z.array(z.string());
/** Sections whose keys are chosen by the user. */
export const free = z.record(z.string(), z.unknown());

type Optional<Shape extends z.ZodRawShape> = { [Key in keyof Shape]: z.ZodOptional<Shape[Key]> };

/** The same settings as an override: nothing is filled in, so that what is not written does not override. */
export function overrideOf<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Optional<Shape>, z.core.$strict> {
  const bare = Object.entries(shape).map(([key, setting]) => {
    const type = setting instanceof z.ZodPrefault ? setting.unwrap() : setting;
    const { description } = setting as z.ZodType;
    const optional = z.optional(type);
    return [key, description === undefined ? optional : optional.describe(description)];
  });
  return z.strictObject(Object.fromEntries(bare) as Optional<Shape>);
}
