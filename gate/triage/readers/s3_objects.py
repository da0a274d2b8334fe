"""s3_list_objects_v2: the objects of a bucket, as ListObjectsV2 gives them."""

from datetime import datetime

from gate.triage.readers.document import Answer, Unreadable

# What a list says when there is more of it than it holds, or when it holds only a part.
INCOMPLETE = ("IsTruncated", "NextContinuationToken", "KeyCount", "MaxKeys", "CommonPrefixes")


class S3Objects(Answer):
    """Objects with their size in bytes. An empty bucket has no `Contents` at all, which is not readable as objects."""

    tools = ("s3_list_objects_v2",)

    def complete(self) -> bool:
        """True. Raises Unreadable unless the list proves to be whole."""
        listed = self.listed()
        if self.result.flag("IsTruncated") is not False:
            raise Unreadable("/IsTruncated", "`IsTruncated` says that the list goes on.", "true")
        for marker in ("NextContinuationToken", "CommonPrefixes"):
            if self.result.has(marker):
                raise Unreadable(f"/{marker}", f"`{marker}` stands there, so objects are missing.", marker)
        if self.result.integer("KeyCount") != listed:
            raise Unreadable("/KeyCount", f"`KeyCount` is not the {listed} in the list.", f"{listed} listed")
        if self.result.has("MaxKeys") and self.result.integer("MaxKeys") <= listed:
            raise Unreadable("/MaxKeys", f"the page is full with {listed}, so there may be more.", f"{listed} listed")
        return True

    def listed(self) -> int:
        """How many objects are in the answer."""
        return self.result.length("Contents")

    def bucket(self) -> str:
        """The bucket that the answer is about."""
        return self.result.text("Name")

    def prefix(self) -> str:
        """The part of it that was asked for; empty for all."""
        return self.result.text("Prefix")

    def key(self, index: int) -> str:
        """The name of an object."""
        return self.result.text("Contents", index, "Key")

    def size(self, index: int) -> int:
        """How many bytes it holds."""
        return self.result.integer("Contents", index, "Size")

    def stored_at(self, index: int) -> datetime:
        """When it was last written."""
        return self.result.moment("Contents", index, "LastModified")
