package installation

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/runtime/reporter"
)

// snapshot is the state of one attempt: what it has read, and what it has begun.
type snapshot struct {
	decide.Situation
	// subject is what is reported about.
	subject *reporter.Subject
	// requester is the client that has asked for a job, by its own account.
	requester string
	// overrider is the client that has left a policy out for the next job, in the same way.
	overrider string
	// unsaved says that the status has a job which is not stored yet.
	unsaved bool
	// ends says that the attempt ends with this step: an event triggers the next one.
	ends bool
	// released says that the finalizer was removed with this step.
	released bool
	// admitted says that the request for the job was removed: a present request is for the job
	// after it.
	admitted bool
	// approved is the plan that the next job may carry out; nil if no policy asks for one.
	approved *v1alpha1.ApprovedPlan
	// governed says that the running job carries out a plan.
	governed bool
}
