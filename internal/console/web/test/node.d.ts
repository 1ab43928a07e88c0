// What the tests use of Node, so that they need no package with its types.

declare module "node:test" {
  export function test(name: string, run: () => void | Promise<void>): void;
}

declare module "node:assert/strict" {
  interface Assert {
    equal(got: unknown, want: unknown, message?: string): void;
    deepEqual(got: unknown, want: unknown, message?: string): void;
    match(got: string, want: RegExp, message?: string): void;
    ok(got: unknown, message?: string): asserts got;
  }
  const assert: Assert;
  export default assert;
}

declare const process: { env: Record<string, string | undefined> };
