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
	// Unchanged reports that the document is still the one with the validator that was asked with; the
	// data are empty then.
	Unchanged bool
}

// Ask asks a server for a document. With a validator, the answer may be that
// nothing has changed.
type Ask func(ctx context.Context, validator string) (Document, error)

var errNotAsked = errors.New("the server says that nothing has changed, but was not asked for changes")

// Wanted says which document is wanted.
type Wanted struct {
	Address string
	// Digest is that of the document, if it is known from elsewhere: only a document
	// with this digest is the wanted one, however old it is.
	Digest digest.Digest
	// Immutable says that the address always stands for the same document.
	Immutable bool
	// Anew says that what is kept has turned out to be outdated.
	Anew bool
}

// Document returns what an address delivers to a tenant. A tenant that has got the document gets it
// from the cache during the validity, and for the job that has asked for it: for another job the
// server is asked whether the document is unchanged, unless its digest is known or the address
// stands for one document. After the validity the server is always asked, also whether this tenant
// may still read the document. A tenant never gets a document that the server has delivered only to
// another tenant, but equal documents are kept once.
func (c *Cache) Document(ctx context.Context, by Asker, wanted Wanted, ask Ask) ([]byte, error) {
	if c == nil {
		found, err := ask(ctx, "")
		return found.Data, err
	}
	// No repository of a registry has a name with a space: who may read a page of a
	// host has shown nothing about its repositories.
	key, began := tagKey{place: place{tenant: by.Tenant, repository: short("document " + wanted.Address)}}, uint64(0)
	if wanted.Digest == "" && !wanted.Immutable {
		began = c.began(by)
	}
	var data []byte
	err := c.turns.do(ctx, fmt.Sprint(key), func() (err error) {
		data, err = c.askFor(ctx, key, began, wanted, ask)
		return err
	})
	return data, err
}

// askFor returns a document that is kept, or asks for it.
func (c *Cache) askFor(ctx context.Context, key tagKey, began uint64, wanted Wanted, ask Ask) ([]byte, error) {
	data, known := c.document(key, wanted.Digest)
	if !wanted.Anew && known.asked >= began && c.now().Before(known.until) {
		return data, nil
	}
	asked := c.event()
	found, err := ask(ctx, known.validator)
	switch {
	case err != nil:
		return nil, err
	case found.Unchanged && known.validator == "":
		return nil, errNotAsked
	case found.Unchanged:
		found.Data, found.Validator = data, known.validator
	}
	c.keepDocument(key, found, asked)
	return found.Data, nil
}

// document returns what a tenant has got from an address, and what was said about it;
// nothing if it is not the document with the digest.
func (c *Cache) document(key tagKey, wanted digest.Digest) ([]byte, answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, exists := c.tags[key]
	element, kept := c.content[known.manifest.Digest]
	if !exists || !kept || !element.Value.(*content).in[key.repository] {
		return nil, answer{}
	}
	if wanted != "" && known.manifest.Digest != wanted {
		return nil, answer{}
	}
	c.order.MoveToFront(element)
	return element.Value.(*content).data, known
}

// keepDocument keeps a document unless it is large.
func (c *Cache) keepDocument(key tagKey, found Document, asked uint64) {
	if int64(len(found.Data)) > c.largest() {
		return
	}
	at := digest.FromBytes(found.Data)
	c.put(key.place, at, found.Data)
	c.remember(key, answer{manifest: ocispec.Descriptor{Digest: at, Size: int64(len(found.Data))}, asked: asked, validator: found.Validator})
}
