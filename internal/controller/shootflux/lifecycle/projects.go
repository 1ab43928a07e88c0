package lifecycle

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// project is what an Extension takes from the garden.
type project struct {
	namespace string
	// private says that the source needs credentials.
	private bool
}

// projects remembers what was read in the garden for whom, from before it is read. The
// status says the same, but later: a change in between would concern nobody.
type projects struct {
	mutex sync.Mutex
	of    map[client.ObjectKey]project
}

// enter says that a project is about to be read.
func (p *projects) enter(e *gardener.Extension, namespace string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.of == nil {
		p.of = map[client.ObjectKey]project{}
	}
	now, _ := p.known(e)
	now.namespace = namespace
	p.of[client.ObjectKeyFromObject(e)] = now
}

// needs says that credentials are about to be read, or that there are none.
func (p *projects) needs(e *gardener.Extension, private bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if now, is := p.of[client.ObjectKeyFromObject(e)]; is {
		now.private = private
		p.of[client.ObjectKeyFromObject(e)] = now
	}
}

// concerned says whether a change in a project concerns an Extension. What was there when
// watching began concerns only those that were looked at before it did.
func (p *projects) concerned(e *gardener.Extension, change access.Change) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, looked := p.known(e)
	return known.namespace == change.Namespace && (known.private || !change.Credentials) && (looked || !change.Found)
}

// known is what the status says of an Extension that was not looked at yet.
func (p *projects) known(e *gardener.Extension) (of project, looked bool) {
	if now, is := p.of[client.ObjectKeyFromObject(e)]; is {
		return now, true
	}
	status := state.ReadStatus(e)
	return project{status.ProjectNamespace, status.PrivateSource}, false
}

func (p *projects) forget(key client.ObjectKey) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.of, key)
}
