// Package observe reads what the work for an Installation depends on: its family, its
// Context, what it imports, and what others see of what was written just now. It takes
// from caches what these cannot be mistaken about, and asks the API server for the rest.
// It must never write, and what is wrong with what it reads is for others to judge.
package observe
