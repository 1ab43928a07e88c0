package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"go.landscaper.dev/internal/content/component/archive"
)

// TagList is a list of tags as it was at some time.
type TagList struct {
	Tags []string
	// Validator is what the registry calls this state of the list; empty if it does not, or if the list
	// has several pages.
	Validator string
}

// TagsSince lists the tags of a repository, unless the list still has the validator: then changed is
// false, and the registry has sent no list. More tags than a limit are an error.
func (r *Registry) TagsSince(ctx context.Context, name, validator string, limit int) (list TagList, changed bool, err error) {
	repository, err := r.repository(ctx, name)
	if err != nil {
		return TagList{}, false, err
	}
	asked := &conditional{Client: repository.Client, validator: validator}
	repository.Client = asked
	err = repository.Tags(ctx, "", func(tags []string) error {
		if list.Tags = append(list.Tags, tags...); len(list.Tags) > limit {
			return &archive.TooLargeError{What: "the number of tags", Limit: int64(limit)}
		}
		return nil
	})
	var answer *errcode.ErrorResponse
	switch {
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotModified && validator != "":
		return TagList{Validator: validator}, false, nil
	case err != nil:
		return TagList{}, false, r.explain(err, "list the tags of "+name)
	}
	if asked.pages == 1 {
		list.Validator = asked.answered
	}
	return list, true, nil
}

// maxValidator is how long a validator may be that is sent back.
const maxValidator = 256

// conditional lets the first request of a list ask for one that differs.
type conditional struct {
	remote.Client
	validator, answered string
	pages               int
}

// Do implements remote.Client.
func (c *conditional) Do(request *http.Request) (*http.Response, error) {
	if c.pages++; c.pages == 1 && c.validator != "" {
		request.Header.Set("If-None-Match", c.validator)
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for the list: %w", err)
	}
	if tag := response.Header.Get("ETag"); c.pages == 1 && len(tag) <= maxValidator {
		c.answered = tag
	}
	return response, nil
}
