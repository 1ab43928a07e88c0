// Package deployer is the library for deployers: programs that carry out
// DeployItems of one type. It speaks the protocol of DeployItems (taking up a job,
// errors, time limits, interruption, deletion, the end of a job), so that a
// deployer only says what is to be done:
//
//	type Deployer interface {
//		Reconcile(ctx context.Context, item *Item) (Result, error)
//		Delete(ctx context.Context, item *Item) (Result, error)
//	}
//
// Both methods go as far as they can and return. They never wait themselves: what
// has to happen first is named in the Result, and whatever watches it calls
// Item.Requeue. They are called again after a wake, after an error (later each time)
// and after a restart, so they must be able to continue from any point.
//
// Add puts a deployer into a manager of controller-runtime. The page
// docs/deployer-library.md has a complete deployer. Attempt runs a deployer in a test.
//
// Nothing here is of a type that only this module can name: the tests of a deployer may bring
// their own Clusters and Connection.
package deployer
