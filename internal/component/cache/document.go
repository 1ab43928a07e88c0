package cache

import (
	"context"
	"errors"
	"fmt"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Document is what an address has delivered.
type Document struct {
	Data []byte
	// Validator is what the server calls this state of the document; "" if it has no
	// name for it.
	Validator string
	// Unchanged tells that the document is still the one with the validator that was
	// asked with; the data are empty then.
	Unchanged bool
}

// Ask asks a server for a document. With a validator, the answer may be that
// nothing has changed.
type Ask func(ctx context.Context, validator string) (Document, error)

var errNotAsked = errors.New("the server says that nothing has changed, but was not asked for changes")

// Document returns what an address delivers to a tenant. Who has got it gets it from
// the cache for the time of the validity; after that the server is asked whether it
// is still the same, and whether it is still for this tenant. A tenant never gets
// what the server has delivered to another one only, but equal documents are kept
// once.
func (c *Cache) Document(ctx context.Context, tenant, address string, ask Ask) ([]byte, error) {
	if c == nil {
		found, err := ask(ctx, "")
		return found.Data, err
	}
	// No repository of a registry has a name with a space: who may read a page of a
	// host has shown nothing about its repositories.
	key := tagKey{place: place{tenant: tenant, repository: "document " + address}}
	unlock, err := c.locks.lock(ctx, fmt.Sprint(key))
	if err != nil {
		return nil, fmt.Errorf("wait for a download: %w", err)
	}
	defer unlock()
	data, validator, fresh := c.document(key)
	if fresh {
		return data, nil
	}
	found, err := ask(ctx, validator)
	switch {
	case err != nil:
		return nil, err
	case found.Unchanged && validator == "":
		return nil, errNotAsked
	case found.Unchanged:
		found.Data, found.Validator = data, validator
	}
	c.keepDocument(key, found)
	return found.Data, nil
}

// document returns what a tenant has got from an address, and how to ask for
// changes; fresh tells that there is no need to.
func (c *Cache) document(key tagKey) (data []byte, validator string, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, exists := c.tags[key]
	element, kept := c.content[known.manifest.Digest]
	if !exists || !kept || !element.Value.(*content).in[key.repository] {
		return nil, "", false
	}
	c.order.MoveToFront(element)
	return element.Value.(*content).data, known.validator, c.now().Before(known.until)
}

// keepDocument keeps a document unless it is large.
func (c *Cache) keepDocument(key tagKey, found Document) {
	if int64(len(found.Data)) > c.largest() {
		return
	}
	at := digest.FromBytes(found.Data)
	c.put(key.place, at, found.Data)
	c.remember(key, ocispec.Descriptor{Digest: at, Size: int64(len(found.Data))})
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.tags[key]
	known.validator = found.Validator
	c.tags[key] = known
}
