// Package observe reads what the work for an Installation depends on: its family, its Context, what
// it imports, and what others see of what was written just now. It takes from caches what is never
// stale there, and asks the API server for the rest. It must never write, and judges no error in
// what it reads.
package observe
