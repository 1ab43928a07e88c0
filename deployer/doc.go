// Package deployer is the library for deployers: programs that carry out DeployItems of one type.
// It speaks the protocol of DeployItems (picking up a job, errors, time limits, interruption,
// deletion, the end of a job). A deployer only says what is to be done:
//
//	type Deployer interface {
//		Reconcile(ctx context.Context, item *Item) (Result, error)
//		Delete(ctx context.Context, item *Item) (Result, error)
//	}
//
// Both methods do what is possible now and return. They never wait: the Result names what has to
// happen first, and its watch calls Item.Requeue. They are called again after Item.Requeue, after
// an error (with a backoff) and after a restart, so they must be able to continue from any point.
//
// Add puts a deployer into a manager of controller-runtime. The page
// docs/deployer-library.md has a complete deployer. Attempt runs a deployer in a test.
//
// All types of the API can be named by other modules: the tests of a deployer may bring their own
// Clusters and Connection.
package deployer
