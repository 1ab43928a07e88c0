package lifecycle

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// project is what an Extension reads from the garden.
type project struct {
	namespace string
	// private says that the source needs credentials.
	private bool
}

// projects records which Extension reads which project of the garden, before the read. The status
// has the same, but later: a change in between would be missed.
type projects struct {
	mutex sync.Mutex
	of    map[client.ObjectKey]project
}

// enter records that a project is about to be read.
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

// needs records that credentials are about to be read, or are not needed.
func (p *projects) needs(e *gardener.Extension, private bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if now, is := p.of[client.ObjectKeyFromObject(e)]; is {
		now.private = private
		p.of[client.ObjectKeyFromObject(e)] = now
	}
}

// concerned says whether a change in a project concerns an Extension. An object that existed when
// the watch began concerns only Extensions that were reconciled before.
func (p *projects) concerned(e *gardener.Extension, change access.Change) bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	known, looked := p.known(e)
	return known.namespace == change.Namespace && (known.private || !change.Credentials) && (looked || !change.Found)
}

// known returns the project from the memory, or from the status of an Extension that was not
// reconciled yet.
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
