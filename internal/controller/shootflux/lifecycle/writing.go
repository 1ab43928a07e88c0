package lifecycle

import "sync"

// writing are the namespaces in which a run has written the contents of a ManagedResource, and goes
// on. The resource manager may have answered before the run reports that it waits.
//
// A run that writes nothing is not included: the owner of a shoot can change the answers at will,
// and each change would trigger another run.
type writing struct {
	mutex      sync.Mutex
	namespaces map[string]struct{}
}

func (w *writing) begin(namespace string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.namespaces == nil {
		w.namespaces = map[string]struct{}{}
	}
	w.namespaces[namespace] = struct{}{}
}

func (w *writing) end(namespace string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.namespaces, namespace)
}

func (w *writing) in(namespace string) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	_, is := w.namespaces[namespace]
	return is
}
